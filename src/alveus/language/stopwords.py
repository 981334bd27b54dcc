"""Function words by language: the language of a text is told by them, and a question is not asked about them.

en, ru: ours. da de es fi fr hu it nl no pt sv tr: the lists of the Snowball and PostgreSQL projects (BSD), from the
NLTK corpus. ar ca cs fa hi id pl ro: the words on which stopwords-iso (MIT) and stop-words (BSD) agree; el likewise, of
stopwords-iso and the list of Apache Lucene. et eo eu ga hy lt st, and sr (from its Croatian): stopwords-iso (MIT).
None is known for ne, ta, yi.

Snowball: copyright 2001 Martin Porter, 2004 and 2005 Richard Boulton. stop-words: copyright 2014 Alireza Savand and
contributors. stopwords-iso: Gene Diaz, Arthit Suriyawongkul and contributors.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ar": """
أ ا اثر اجل احد اخرى اذا اربعة اطار اعادة اعلنت اف اكثر اكد الا الاخيرة الان الاول الاولى التى التي الثاني الثانية
الذاتي الذى الذي الذين السابق الف الماضي المقبل الوقت الى اليوم اما امام امس ان انه انها او اول اي ايار ايام ايضا ب
باسم بان برس بسبب بشكل بعد بعض بن به بها بين تم ثلاثة ثم جميع حاليا حتى حوالى حول حيث حين خلال دون ذلك زيارة سنة سنوات
شخصا صباح صفر ضد ضمن عام عاما عدة عدد عدم عشر عشرة على عليه عليها عن عند عندما غدا غير ـ ف فان فى في فيه فيها قال قبل
قد قوة كان كانت كل كلم كما لا لدى لقاء لكن للامم لم لن له لها لوكالة ما مايو مساء مع مقابل مليار مليون من منذ منها نحو
نفسه نهاية هذا هذه هناك هو هي و واحد واضاف واضافت واكد وان واوضح وفي وقال وقالت وقد وقف وكان وكانت ولا ولم ومن وهو وهي
يكون يمكن يوم
""",
        "ca": """
a abans algun alguna algunes alguns altre amb ambdós anar ans aquell aquelles aquells aquí bastant bé cada com
consegueixo conseguim conseguir consigueix consigueixen consigueixes dalt de des dins el elles ells els en ens entre
era erem eren eres es estan estat estava estem esteu estic està ets fa faig fan fas fem fer feu fi haver i inclòs jo
la les llarg llavors mentre meu mode molt molts nosaltres o on per perquè però podem poden poder podeu potser primer
puc quan quant que qui què sabem saben saber sabeu sap saps sense ser seu seus si soc solament sols som sota també te
tene tenim tenir teniu teu tinc tot un una unes uns va vaig van vosaltres és éssent últim ús
""",
        "cs": """
a aby ahoj aj ale anebo ani aniž ano asi aspoň az ačkoli až bez beze blízko bohužel brzo bude budem budeme budes
budete budeš budou budu by byl byla byli bylo byly bys byt být během chce chceme chcete chceš chci chtít chtějí chuti
ci clanek clanku clanky co coz což cz daleko dalsi další den deset design devatenáct devět dnes do dobrý docela dva
dvacet dvanáct dvě dál dále děkovat děkujeme děkuji email ho hodně i jak jako jde je jeden jedenáct jedna jedno jednou
jedou jeho jej jeji jejich její jemu jen jenom jenž jeste jestli jestliže ještě ji jich jimi jinak jine jiné jiz již
jsem jses jseš jsi jsme jsou jste já jí jím jšte k kam každý kde kdo kdy kdyz když ke kolik kromě ktera ktere kteri
kterou ktery která které který kteři kteří ku kvůli ma mají mate me mezi mi mit mnou mně moc mohl mohou moje moji
možná muj musí muze my má málo mám máme máte máš mé mí mít mě můj může na nad nade nam napište naproti nas nasi naše
naši ne nebo nebyl nebyla nebyli nebyly nechť nedělají nedělá nedělám neděláme neděláte neděláš nejsi nejsou nemají
nemáme nemáte neměl neni není nestačí nevadí nez než nic nich nimi nove novy nové nový nula ná nám námi nás náš ní ním
ně něco nějak někde někdo němu o od ode on ona oni ono ony osm osmnáct pak patnáct po pod podle pokud potom pouze
pozdě pořád prave pred pres pri pro proc prostě prosím proti proto protoze protože proč prvni první práve pta pět před
přede přes přese při re rovně s se sedm sedmnáct si sice skoro smí smějí snad spolu sta sto strana sté sve svych svym
svymi své svých svým svými svůj ta tady tak take takhle taky takze také takže tam tamhle tamhleto tamto tato te tebe
tebou tedy tema ten tento teto ti tim timto tipy tisíc tisíce to tobě tohle toho tohoto tom tomto tomuto toto trošku
tu tuto tvoje tvá tvé tvůj ty tyto této tím tímto tě těma třeba tři třináct u určitě uz už v vam vas vase vaše vaši ve
vedle večer vice vlastně vsak vy vám vámi vás váš více však všechen všechno všichni vůbec vždy z za zatímco zač zda
zde ze zpet zpět čau či článek článku články čtrnáct čtyři šest šestnáct že
""",
        "da": """
ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller en
end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvis hvor i ikke ind jeg jer jo kunne man
mange med meget men mig min mine mit mod ned noget nogle nu når og også om op os over på selv sig sin sine sit skal
skulle som sådan thi til ud under var vi vil ville vor være været
""",
        "de": """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern anderr
anders auch auf aus bei bin bis bist da damit dann das dass dasselbe dazu dein deine deinem deinen deiner deines dem
demselben den denn denselben der derer derselbe derselben des desselben dessen dich die dies diese dieselbe dieselben
diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig einige einigem einigen
einiger einiges einmal er es etwas euch euer eure eurem euren eurer eures für gegen gewesen hab habe haben hat hatte
hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist jede jedem jeden jeder
jedes jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner keines können könnte machen man manche
manchem manchen mancher manches mein meine meinem meinen meiner meines mich mir mit muss musste nach nicht nichts noch
nun nur ob oder ohne sehr sein seine seinem seinen seiner seines selbst sich sie sind so solche solchem solchen
solcher solches soll sollte sondern sonst um und uns unser unsere unserem unseren unseres unter viel vom von vor war
waren warst was weg weil weiter welche welchem welchen welcher welches wenn werde werden wie wieder will wir wird
wirst wo wollen wollte während würde würden zu zum zur zwar zwischen über
""",
        "el": """
αλλα αν αντι απο αυτα αυτεσ αυτη αυτο αυτοι αυτοσ αυτουσ αυτων για δε δεν εαν ειμαι ειμαστε ειναι εισαι ειστε εκεινα
εκεινεσ εκεινη εκεινο εκεινοι εκεινοσ εκεινουσ εκεινων ενω επι η θα ισωσ κ και κατα κι μα με μετα μη μην να ο οι ομωσ
οπωσ οσο οτι παρα ποια ποιεσ ποιο ποιοι ποιοσ ποιουσ ποιων που προσ πωσ σε στη στην στο στον τα την τησ το τον τοτε
του των ωσ
""",
        "en": """
a about above after again against ain't all also am an and any anybody anyone anything are aren't arent as at be
because been before being below between both but by can can't cannot could couldn't couldnt did didn't didnt do does
doesn't doesnt doing don't done dont down during each either else ever every everybody everyone everything few for
from further get gets getting got had hadn't hadnt has hasn't hasnt have haven't havent having he he'd he'll he's her
here here's hers herself him himself his how how's however i i'd i'll i'm i've if im in into is isn't isnt it it'd
it'll it's its itself ive just let let's many may me might mightn't more most much must mustn't mustnt my myself need
needn't neither no nor not now of off oh ok okay on once only or other others ought our ours ourselves out over own
please same shall shan't she she'd she'll she's should shouldn't shouldnt since so some somebody someone something
such tell than that that'd that'll that's thats the their theirs them themselves then there there's theres these they
they'd they'll they're they've theyre this those though through to too under until up upon us very was wasn't wasnt we
we'd we'll we're we've were weren't werent what what'd what're what's whatever whats when when'd when's where where'd
where's which while who who'd who'll who's whoever whom whos whose why why's will with within without won't wont would
wouldn't wouldnt yes yet you you'd you'll you're you've your youre yours yourself yourselves youve
""",
        "eo": """
adiaŭ ajn al ankoraŭ antaŭ aŭ bonan bonvole bonvolu bv ci cia cian cin da de dek deka do doktoro du dua dum eble ekz
ekzemple en estas estis estos estu estus eĉ feliĉan for fraŭlino ha havas havis havos havu havus he ho hu ili ilia
ilian ilin inter io ion iu iujn iun ja jam je jes k kaj ke kio kion kiu kiujn kiun kvankam kvar kvara kvazaŭ kvin
kvina la li lia lian lin malantaŭ male malgraŭ mem mi mia mian min minus naŭ naŭa ne nek nenio nenion neniu neniun
nepre ni nia nian nin nu nun nur ok oka oni onia onian onin plej pli plu plus por post preter se sed sep sepa ses sesa
si sia sian sin sinjorino sinjoro sub super supren sur tamen tio tion tiu tiujn tiun tra tri tria tuj tute unu unua ve
verŝajne vi via vian vin ĉi ĉio ĉion ĉiu ĉiujn ĉiun ĉu ĝi ĝia ĝian ĝin ĝis ĵus ŝi ŝia ŝin
""",
        "es": """
a al algo algunas algunos ante antes como con contra cual cuando de del desde donde durante e el ella ellas ellos en
entre era erais eran eras eres es esa esas ese eso esos esta estaba estabais estaban estabas estad estada estadas
estado estados estamos estando estar estaremos estará estarán estarás estaré estaréis estaría estaríais estaríamos
estarían estarías estas este estemos esto estos estoy estuve estuviera estuvierais estuvieran estuvieras estuvieron
estuviese estuvieseis estuviesen estuvieses estuvimos estuviste estuvisteis estuviéramos estuviésemos estuvo está
estábamos estáis están estás esté estéis estén estés fue fuera fuerais fueran fueras fueron fuese fueseis fuesen
fueses fui fuimos fuiste fuisteis fuéramos fuésemos ha habida habidas habido habidos habiendo habremos habrá habrán
habrás habré habréis habría habríais habríamos habrían habrías habéis había habíais habíamos habían habías han has
hasta hay haya hayamos hayan hayas hayáis he hemos hube hubiera hubierais hubieran hubieras hubieron hubiese hubieseis
hubiesen hubieses hubimos hubiste hubisteis hubiéramos hubiésemos hubo la las le les lo los me mi mis mucho muchos muy
más mí mía mías mío míos nada ni no nos nosotras nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros
para pero poco por porque que quien quienes qué se sea seamos sean seas sentid sentida sentidas sentido sentidos
seremos será serán serás seré seréis sería seríais seríamos serían serías seáis siente sin sintiendo sobre sois somos
son soy su sus suya suyas suyo suyos sí también tanto te tendremos tendrá tendrán tendrás tendré tendréis tendría
tendríais tendríamos tendrían tendrías tened tenemos tenga tengamos tengan tengas tengo tengáis tenida tenidas tenido
tenidos teniendo tenéis tenía teníais teníamos tenían tenías ti tiene tienen tienes todo todos tu tus tuve tuviera
tuvierais tuvieran tuvieras tuvieron tuviese tuvieseis tuviesen tuvieses tuvimos tuviste tuvisteis tuviéramos
tuviésemos tuvo tuya tuyas tuyo tuyos tú un una uno unos vosostras vosostros vuestra vuestras vuestro vuestros y ya yo
él éramos
""",
        "et": """
aga ei et ja jah kas kui kõik ma me mida midagi mind minu mis mu mul mulle nad nii oled olen oli oma on pole sa seda
see selle siin siis ta te ära
""",
        "eu": """
al anitz arabera asko baina bat batean batek bati batzuei batzuek batzuetan batzuk bera beraiek berau berauek bere
berori beroriek beste bezala da dago dira ditu du dute edo egin ere eta eurak ez gainera gu gutxi guzti haiei haiek
haietan hainbeste hala han handik hango hara hari hark hartan hau hauei hauek hauetan hemen hemendik hemengo hi hona
honek honela honetan honi hor hori horiei horiek horietan horko horra horrek horrela horretan horri hortik hura izan
ni noiz nola non nondik nongo nor nora ze zein zen zenbait zenbat zer zergatik ziren zituen zu zuek zuen zuten
""",
        "fa": """
آباد آره آری آمد آمده آن آنان آنجا آنطور آنقدر آنكه آنها آنچه آنکه آورد آورده آيد آی آیا آیند اتفاقا اثرِ احتراما
احتمالا اخیر اری از ازجمله اساسا است استفاد استفاده اش اشکارا اصلا اصولا اعلام اغلب اكنون الان البته البتّه ام اما
امروز امروزه امسال امشب امور ان انجام اند انشاالله انصافا انطور انقدر انها انچنان انکه انگار او اول اولا اي ايشان ايم
اين اينكه اکثرا اکنون اگر ای ایا اید ایشان ایم این اینجا ایند اینطور اینقدر اینها اینچنین اینک اینکه اینگونه با بار
بارة باره بارها باز بازهم باش باشد باشم باشند باشيم باشی باشید باشیم بالا بالاخره بالایِ بالطبع بايد باید بتوان بتواند
بتوانی بتوانیم بخش بخشی بخواه بخواهد بخواهم بخواهند بخواهی بخواهید بخواهیم بد بدون بر برابر برابرِ براحتی براساس
براستی براي برای برایِ برخوردار برخي برخی برداري برعکس بروز بزرگ بزودی بسا بسيار بسياري بسیار بسیاری بطور بعد بعدا
بعدها بعری بعضا بعضي بلافاصله بلكه بله بلکه بلی بنابراين بنابراین بندي به بهتر بهترين بود بودم بودن بودند بوده بودی
بودید بودیم بویژه بي بيست بيش بيشتر بيشتري بين بکن بکند بکنم بکنند بکنی بکنید بکنیم بگو بگوید بگویم بگویند بگویی
بگویید بگوییم بگیر بگیرد بگیرم بگیرند بگیری بگیرید بگیریم بی بیا بیاب بیابد بیابم بیابند بیابی بیابید بیابیم بیاور
بیاورد بیاورم بیاورند بیاوری بیاورید بیاوریم بیاید بیایم بیایند بیایی بیایید بیاییم بیرون بیرونِ بیش بیشتر بیشتری بین
ت تا تازه تاكنون تان تاکنون تحت تر ترين تقریبا تلویحا تمام تماما تمامي تنها تو تواند توانست توانستم توانستن توانستند
توانسته توانستی توانستیم توانم توانند توانی توانید توانیم توسط تولِ تویِ ثانیا جا جاي جايي جای جدا جديد جدید جريان
جریان جز جلوگيري جلویِ جمعا جناح جهت حاضر حال حالا حتما حتي حتی حداکثر حدودا حدودِ حق خارجِ خب خدمات خصوصا خلاصه خواست
خواستم خواستن خواستند خواسته خواستی خواستید خواستیم خواهد خواهم خواهند خواهيم خواهی خواهید خواهیم خوب خود خودت خودتان
خودش خودشان خودم خودمان خوشبختانه خويش خویش خویشتن خیاه خیر خیلی داد دادم دادن دادند داده دادی دادید دادیم دار دارد
دارم دارند داريم داری دارید داریم داشت داشتم داشتن داشتند داشته داشتی داشتید داشتیم دانست دانند دایم دایما در درباره
درمجموع درون دریغ دقیقا دنبالِ ده دهد دهم دهند دهی دهید دهیم دو دوباره دوم ديده ديروز ديگر ديگران ديگري دیر دیروز دیگر
دیگران دیگری را راحت راسا راستی راه رسما رسید رفت رفته رو روب روز روزانه روزهاي روي روی رویِ ريزي زمان زمانی زمینه زود
زياد زير زيرا زیر زیرِ سابق ساخته سازي سالانه سالیانه سایر سراسر سرانجام سریعا سریِ سعي سمتِ سوم سوي سوی سویِ سپس شان
شايد شاید شخصا شد شدم شدن شدند شده شدی شدید شدیدا شدیم شش شما شناسي شود شوم شوند شونده شوی شوید شویم صرفا صورت ضدِّ
ضمن طبعا طبقِ طبیعتا طرف طريق طریق طور طي طی ظاهرا عدم عقبِ علّتِ علیه عمدا عمدتا عمل عملا عنوان عنوانِ غالبا غير غیر
فردا فعلا فقط فكر فوق قابل قبل قبلا قدری قصدِ قطعا كرد كردم كردن كردند كرده كسي كل كمتر كند كنم كنند كنيد كنيم كه
لااقل لطفا لطفاً ما مان مانند مانندِ مبادا متاسفانه متعاقبا مثل مثلا مثلِ مجانی مجددا مجموعا مختلف مدام مدت مدّتی مردم
مرسی مستقیما مسلما مطمینا معمولا مقابل ممکن من موارد مورد موقتا مي ميليارد ميليون مگر می میان ناشي نام ناگاه ناگهان
ناگهانی نبايد نباید نبود نخست نخستين نخواهد نخواهم نخواهند نخواهی نخواهید نخواهیم ندارد ندارم ندارند نداری ندارید
نداریم نداشت نداشتم نداشتند نداشته نداشتی نداشتید نداشتیم نزديك نزدِ نزدیکِ نسبتا نشان نشده نظير نظیر نكرده نمايد نمي
نمی نه نهایتا نوع نوعي نوعی نيز نيست نگاه نیز نیست ها هاي هايي های هایی هبچ هر هرچه هرگز هزار هست هستم هستند هستيم
هستی هستید هستیم هفت هم همان همه همواره همين همچنان همچنين همچنین همچون همیشه همین هنوز هنگام هنگامِ هنگامی هيچ هیچ
هیچگاه و واقعا واقعی وجود وسطِ وضع وقتي وقتی وقتیکه ولی وي وگو وی ویژه يا يابد يك يكديگر يكي ّه پارسال پاعینِ پس پنج
پيش پیدا پیش پیشاپیش پیشتر پیشِ چرا چطور چقدر چنان چنانچه چنانکه چند چندین چنين چنین چه چهار چو چون چيزي چگونه چیز
چیزی چیست کاش کامل کاملا کتبا کجا کجاست کدام کرد کردم کردن کردند کرده کردی کردید کردیم کس کسانی کسی کل کلا کم کماکان
کمتر کمتری کمی کن کنار کنارِ کند کنم کنند کننده کنون کنونی کنی کنید کنیم که کو کَی کی گاه گاهی گذاري گذاشته گذشته گردد
گرفت گرفتم گرفتن گرفتند گرفته گرفتی گرفتید گرفتیم گروهي گفت گفتم گفتن گفتند گفته گفتی گفتید گفتیم گه گهگاه گو گويد
گويند گویا گوید گویم گویند گویی گویید گوییم گيرد گيري گیرد گیرم گیرند گیری گیرید گیریم ی یا یابد یابم یابند یابی یابید
یابیم یافت یافتم یافتن یافته یافتی یافتید یافتیم یعنی یقینا یه یک یکی
""",
        "fi": """
ei eivät emme en et ette että he heidän heidät heihin heille heillä heiltä heissä heistä heitä hän häneen hänelle
hänellä häneltä hänen hänessä hänestä hänet häntä itse ja johon joiden joihin joiksi joilla joille joilta joina joissa
joista joita joka joksi jolla jolle jolta jona jonka jos jossa josta jota jotka kanssa keiden keihin keiksi keille
keillä keiltä keinä keissä keistä keitä keneen keneksi kenelle kenellä keneltä kenen kenenä kenessä kenestä kenet
ketkä ketä koska kuin kuka kun me meidän meidät meihin meille meillä meiltä meissä meistä meitä mihin miksi mikä mille
millä miltä minkä minua minulla minulle minulta minun minussa minusta minut minuun minä missä mistä mitkä mitä mukaan
mutta ne niiden niihin niiksi niille niillä niiltä niin niinä niissä niistä niitä noiden noihin noiksi noilla noille
noilta noin noina noissa noista noita nuo nyt näiden näihin näiksi näille näillä näiltä näinä näissä näistä näitä nämä
ole olemme olen olet olette oli olimme olin olisi olisimme olisin olisit olisitte olisivat olit olitte olivat olla
olleet ollut on ovat poikki se sekä sen siihen siinä siitä siksi sille sillä siltä sinua sinulla sinulle sinulta sinun
sinussa sinusta sinut sinuun sinä sitä tai tallä te teidän teidät teihin teille teillä teiltä teissä teistä teitä tuo
tuohon tuoksi tuolla tuolle tuolta tuon tuona tuossa tuosta tuotä tähän täksi tälle tältä tämä tämän tänä tässä tästä
tätä vaan vai vaikka yli
""",
        "fr": """
ai aie aient aies ait as au aura aurai auraient aurais aurait auras aurez auriez aurions aurons auront aux avaient
avais avait avec avez aviez avions avons ayant ayante ayantes ayants ayez ayons c ce ces d dans de des du elle en es
est et eu eue eues eurent eus eusse eussent eusses eussiez eussions eut eux eûmes eût eûtes furent fus fusse fussent
fusses fussiez fussions fut fûmes fût fûtes il j je l la le leur lui m ma mais me mes moi mon même n ne nos notre nous
on ont ou par pas pour qu que qui s sa se sera serai seraient serais serait seras serez seriez serions serons seront
ses soient sois soit sommes son sont soyez soyons suis sur t ta te tes toi ton tu un une vos votre vous y à étaient
étais était étant étante étantes étants étiez étions été étée étées étés êtes
""",
        "ga": """
a ach ag agus an aon ar arna as ba beirt bhúr caoga ceathair ceathrar chomh chtó chuig chun cois céad cúig cúigear
daichead dar de deich deichniúr den dhá do don dtí dá dár dó faoi faoin faoina faoinár fara fiche gach gan go gur haon
hocht i iad idir in ina ins inár is le leis lena lenár mar mo mé na nach naoi naonúr ná ní níor nó nócha ocht ochtar
os roimh sa seacht seachtar seachtó seasca seisear siad sibh sinn sna sé sí tar thar thú triúr trí trína trínár
tríocha tú um ár é éis í ó ón óna ónár
""",
        "hi": """
अंदर अत अपना अपनी अपने अभी आदि आप इत्यादि इनका इन्हीं इन्हें इन्हों इस इसका इसकी इसके इसमें इसी इसे उन उनका उनकी उनके
उनको उन्हीं उन्हें उन्हों उस उसके उसी उसे एक एवं एस ऐसे और कई कर करता करते करना करने करें कहते कहा का कि कितना किन्हें
किन्हों किया किर किस किसी किसे की कुछ कुल के को कोई कौन कौनसा गया घर जब जहाँ जा जितना जिन जिन्हें जिन्हों जिस जिसे
जीधर जैसा जैसे जो तक तब तरह तिन तिन्हें तिन्हों तिस तिसे तो था थी थे दबारा दिया दुसरा दूसरे दो द्वारा न नहीं ना निहायत
नीचे ने पर पहले पूरा पे फिर बनी बही बहुत बाद बाला बिलकुल भी भीतर मगर मानो मे में यदि यह यहाँ यही या यिह ये रखें रहा
रहे ऱ्वासा लिए लिये लेकिन व वर्ग वह वहाँ वहीं वाले वुह वे संग सकता सकते सबसे सभी साथ साबुत साभ सारा से सो ही हुआ हुई
हुए है हैं हो होता होती होते होना होने
""",
        "hu": """
a abban ahhoz ahogy ahol aki akik akkor alatt amely amelyek amelyekben amelyeket amelyet amelynek ami amikor amit
amolyan amíg annak arra arról az azok azon azonban azt aztán azután azzal azért be belül benne bár cikk cikkek
cikkeket csak de e ebben eddig egy egyes egyetlen egyik egyre egyéb egész ehhez ekkor el ellen elsõ elég elõ elõször
elõtt emilyen ennek erre ez ezek ezen ezt ezzel ezért fel felé hanem hiszen hogy hogyan igen ill illetve ilyen
ilyenkor ismét ison itt jobban jó jól kell kellett keressünk keresztül ki kívül között közül legalább legyen lehet
lehetett lenne lenni lesz lett maga magát majd meg mellett mely melyek mert mi mikor milyen minden mindenki mindent
mindig mint mintha mit mivel miért most már más másik még míg nagy nagyobb nagyon ne nekem neki nem nincs néha néhány
nélkül olyan ott pedig persze rá s saját sem semmi sok sokat sokkal szemben szerint szinte számára talán tehát teljes
tovább továbbá több ugyanis utolsó után utána vagy vagyis vagyok valaki valami valamint való van vannak vele vissza
viszont volna volt voltak voltam voltunk által általában át én éppen és így õ õk õket össze úgy új újabb újra
""",
        "hy": """
այդ այլ այն այս դու դուք եմ են ենք ես եւ եք է էի էին էինք էիր էիք էր ըստ թ ի ին իսկ իր կամ համար հետ հետո մենք մեջ մի
ն նա նաեւ նրա նրանք որ որը որոնք որպես ու ում պիտի վրա
""",
        "id": """
ada adalah adanya adapun agak agaknya agar akan akankah akhirnya aku akulah amat amatlah anda andalah antar antara
antaranya apa apaan apabila apakah apalagi apatah atau ataukah ataupun bagai bagaikan bagaimana bagaimanakah
bagaimanapun bagi bahkan bahwa bahwasanya banyak beberapa begini beginian beginikah beginilah begitu begitukah
begitulah begitupun belum belumlah berapa berapakah berapalah berapapun bermacam bersama betulkah biasa biasanya bila
bilakah bisa bisakah boleh bolehkah bolehlah buat bukan bukankah bukanlah bukannya cuma dahulu dalam dan dapat dari
daripada dekat demi demikian demikianlah dengan depan di dia dialah diantara diantaranya dikarenakan dini diri dirinya
disini disinilah dong dulu enggak enggaknya entah entahlah hal hampir hanya hanyalah harus haruslah harusnya hendak
hendaklah hendaknya hingga ia ialah ibarat ingin inginkah inginkan ini inikah inilah itu itukah itulah jangan
jangankan janganlah jika jikalau juga justru kala kalau kalaulah kalaupun kalian kami kamilah kamu kamulah kan kapan
kapankah kapanpun karena karenanya ke kecil kemudian kenapa kepada kepadanya ketika khususnya kini kinilah kiranya
kita kitalah kok lagi lagian lah lain lainnya lalu lama lamanya lebih macam maka makanya makin malah malahan mampu
mampukah mana manakala manalagi masih masihkah masing mau maupun melainkan melalui memang mengapa mereka merekalah
merupakan meski meskipun mungkin mungkinkah nah namun nanti nantinya nyaris oleh olehnya pada padahal padanya paling
pantas para pasti pastilah per percuma pernah pula pun rupanya saat saatnya saja sajalah saling sama sambil sampai
sana sangat sangatlah saya sayalah se sebab sebabnya sebagai sebagaimana sebagainya sebaliknya sebanyak sebegini
sebegitu sebelum sebelumnya sebenarnya seberapa sebetulnya sebisanya sebuah sedang sedangkan sedemikian sedikit
sedikitnya segala segalanya segera seharusnya sehingga sejak sejenak sekali sekalian sekaligus sekalipun sekarang
seketika sekiranya sekitar sekitarnya sela selagi selain selaku selalu selama selamanya seluruh seluruhnya semacam
semakin semasih semaunya sementara sempat semua semuanya semula sendiri sendirinya seolah seorang sepanjang
sepantasnya sepantasnyalah seperti sepertinya sering seringnya serta serupa sesaat sesama sesegera sesekali seseorang
sesuatu sesuatunya sesudah sesudahnya setelah seterusnya setiap setidaknya sewaktu siapa siapakah siapapun sini
sinilah suatu sudah sudahkah sudahlah supaya tadi tadinya tak tanpa tapi telah tentang tentu tentulah tentunya terdiri
terhadap terhadapnya terlalu terlebih tersebut tersebutlah tertentu tetapi tiap tidak tidakkah tidaklah toh waduh wah
wahai walau walaupun wong yaitu yakni yang
""",
        "it": """
a abbia abbiamo abbiano abbiate ad agl agli ai al all alla alle allo anche avemmo avendo avesse avessero avessi
avessimo aveste avesti avete aveva avevamo avevano avevate avevi avevo avrai avranno avrebbe avrebbero avrei avremmo
avremo avreste avresti avrete avrà avrò avuta avute avuti avuto c che chi ci coi col come con contro cui da dagl dagli
dai dal dall dalla dalle dallo degl degli dei del dell della delle dello di dov dove e ebbe ebbero ebbi ed era erano
eravamo eravate eri ero essendo faccia facciamo facciano facciate faccio facemmo facendo facesse facessero facessi
facessimo faceste facesti faceva facevamo facevano facevate facevi facevo fai fanno farai faranno farebbe farebbero
farei faremmo faremo fareste faresti farete farà farò fece fecero feci fosse fossero fossi fossimo foste fosti fu fui
fummo furono gli ha hai hanno ho i il in io l la le lei li lo loro lui ma mi mia mie miei mio ne negl negli nei nel
nell nella nelle nello noi non nostra nostre nostri nostro o per perché più quale quanta quante quanti quanto quella
quelle quelli quello questa queste questi questo sarai saranno sarebbe sarebbero sarei saremmo saremo sareste saresti
sarete sarà sarò se sei si sia siamo siano siate siete sono sta stai stando stanno starai staranno starebbe starebbero
starei staremmo staremo stareste staresti starete starà starò stava stavamo stavano stavate stavi stavo stemmo stesse
stessero stessi stessimo steste stesti stette stettero stetti stia stiamo stiano stiate sto su sua sue sugl sugli sui
sul sull sulla sulle sullo suo suoi ti tra tu tua tue tuo tuoi tutti tutto un una uno vi voi vostra vostre vostri
vostro è
""",
        "lt": """
abi abidvi abiejose abiejuose abiem abigaliai abipus abu abudu ai ana anaiptol anaisiais anajai anajam anajame anapus
anas anasai anasis anei aniedvi anieji aniesiems anoji anojo anojoje anokia anoks anosiomis anosioms anosios anosiose
anot ant antai anuodu anuoju anuosiuose anuosius apie aplink ar arba argi arti be bei beje bent bet betgi beveik dar
dargi deja ech et gal galgi gan gana gi greta idant iki ir irgi it itin jaisiais jajai jajam jajame jei jeigu ji jiedu
jiedvi jieji jiesiems jinai jis jisai jog joji jojo jojoje jokia joks josiomis josioms josios josiose judu judvi juk
jumis jums jumyse juodu juoju juosiuose juosius jus kad kada kadangi kai kaip kaipgi kas katra katras katriedvi
katruodu kiaurai kiek kiekvienas kieno kita kitas kitokia kitoks kokia koks kol kolei kone kuomet kur kurgi kuri
kuriedvi kuris kuriuodu lai lig ligi link lyg man manaisiais manajai manajam manajame manas manasai manasis mane
manieji maniesiems manim manimi mano manoji manojo manojoje manosiomis manosioms manosios manosiose manuoju
manuosiuose manuosius manyje mat mes mudu mudvi mumis mums mumyse mus na nagi ne nebe nebent negi negu nei nejau
nejaugi nekaip nelyginant nes net netgi netoli neva nors nuo ogi oi paeiliui pagal pakeliui palaipsniui palei pas
pasak paskos paskui paskum pat pati patiems paties pats patys per pernelyg pirm pirma pirmiau po prie pro pusiau rasi
rodos sau savaisiais savajai savajam savajame savas savasai savasis save savieji saviesiems savimi savo savoji savojo
savojoje savosiomis savosioms savosios savosiose savuoju savuosiuose savuosius savyje skersai su sulig ta tad tai
taigi taip taipogi taisiais tajai tajam tajame tamsta tarp tarsi tartum tarytum tas tasai tau tavaisiais tavajai
tavajam tavajame tavas tavasai tavasis tave tavieji taviesiems tavimi tavo tavoji tavojo tavojoje tavosiomis tavosioms
tavosios tavosiose tavuoju tavuosiuose tavuosius tavyje te tegu tegul tiedvi tieji ties tiesiems tiesiog tik
tikriausiai tiktai toji tojo tojoje tokia toks tol tolei toliau tosiomis tosioms tosios tosiose tu tuodu tuoju
tuosiuose tuosius va vai viduj vidury vien vienas vienokia vienoks vietoj vis visa visas visgi visokia visoks vos
""",
        "nl": """
aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er ge geen
geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men
met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot uit uw van
veel voor want waren was wat werd wezen wie wil worden wordt zal ze zelf zich zij zijn zo zonder zou
""",
        "no": """
alle at av bare begge ble blei bli blir blitt både båe da de deg dei deim deira deires dem den denne der dere deres
det dette di din disse ditt du dykk dykkar då eg ein eit eitt eller elles en enn er et ett etter for fordi fra før ha
hadde han hans har hennar henne hennes her hjå ho hoe honom hoss hossen hun hva hvem hver hvilke hvilken hvis hvor
hvordan hvorfor i ikke ikkje ingen ingi inkje inn inni ja jeg kan kom korleis korso kun kunne kva kvar kvarhelst kven
kvi kvifor man mange me med medan meg meget mellom men mi min mine mitt mot mykje ned no noe noen noka noko nokon
nokor nokre nå når og også om opp oss over på samme seg selv si sia sidan siden sin sine sitt sjøl skal skulle slik so
som somme somt så sånn til um upp ut uten var vart varte ved vere verte vi vil ville vore vors vort vår være vært å
""",
        "pl": """
a aby ach acz aczkolwiek aj albo ale ależ ani aż bardziej bardzo bez bo bowiem by byli bym bynajmniej być był była
było były będzie będą cali cała cały chce choć ci ciebie cię co cokolwiek coraz coś czasami czasem czemu czy czyli
często daleko dla dlaczego dlatego do dobrze dokąd dość dr dużo dwa dwaj dwie dwoje dzisiaj dziś gdy gdyby gdyż gdzie
gdziekolwiek gdzieś go godz hab i ich ii iii ile im inna inne inny innych inż iv ix iż ja jak jakaś jakby jaki jakichś
jakie jakiś jakiż jakkolwiek jako jakoś je jeden jedna jednak jednakże jedno jednym jedynie jego jej jemu jest jestem
jeszcze jeśli jeżeli już ją każdy kiedy kierunku kilka kilku kimś kto ktokolwiek ktoś która które którego której który
których którym którzy ku lat lecz lub ma mają mam mamy mało mgr mi miał mimo między mnie mną mogą moi moim moja moje
może możliwe można mu musi my mój na nad nam nami nas nasi nasz nasza nasze naszego naszych natomiast natychmiast
nawet nic nich nie niech niego niej niemu nigdy nim nimi nią niż no nowe np nr o obok od ok około on ona one oni ono
oraz oto owszem pan pana pani pl po pod podczas pomimo ponad ponieważ powinien powinna powinni powinno poza prawie
prof przecież przed przede przedtem przez przy raz razie roku również sam sama się skąd sobie sobą sposób swoje są ta
tak taka taki takich takie także tam te tego tej tel temu ten teraz też to tobie tobą toteż totobą trzeba tu tutaj
twoi twoim twoja twoje twym twój ty tych tylko tym tys tzw tę u ul vi vii viii vol w wam wami was wasi wasz wasza
wasze we według wie wiele wielu więc więcej wszyscy wszystkich wszystkie wszystkim wszystko wtedy www wy właśnie wśród
xi xii xiii xiv xv z za zapewne zawsze zaś ze zeznowu znowu znów został zł żaden żadna żadne żadnych że żeby
""",
        "pt": """
a ao aos aquela aquelas aquele aqueles aquilo as até com como da das de dela delas dele deles depois do dos e ela elas
ele eles em entre era eram essa essas esse esses esta estamos estas estava estavam este esteja estejam estejamos estes
esteve estive estivemos estiver estivera estiveram estiverem estivermos estivesse estivessem estivéramos estivéssemos
estou está estávamos estão eu foi fomos for fora foram forem formos fosse fossem fui fôramos fôssemos haja hajam
hajamos havemos hei houve houvemos houver houvera houveram houverei houverem houveremos houveria houveriam houvermos
houverá houverão houveríamos houvesse houvessem houvéramos houvéssemos há hão isso isto já lhe lhes mais mas me mesmo
meu meus minha minhas muito na nas nem no nos nossa nossas nosso nossos num numa não nós o os ou para pela pelas pelo
pelos por qual quando que quem se seja sejam sejamos sem serei seremos seria seriam será serão seríamos seu seus somos
sou sua suas são só também te tem temos tenha tenham tenhamos tenho terei teremos teria teriam terá terão teríamos teu
teus teve tinha tinham tive tivemos tiver tivera tiveram tiverem tivermos tivesse tivessem tivéramos tivéssemos tu tua
tuas tém tínhamos um uma você vocês vos à às éramos
""",
        "ro": """
a abia acea aceasta aceea aceeasi aceia acel acela acelasi acelea acest acesta aceste acestea acestei acestia acestui
acolo acum adica ai aia aici aiurea al ala alaturi ale alt alta altceva alte altfel alti altii altul am anume apoi ar
are as asa asemenea asta astazi astfel asupra atare atat atata atatea atatia ati atit atita atitea atitia atunci au
avea avem avut azi b ba bine c ca cam cand capat care careia carora caruia cat catre ce cea ceea cei ceilalti cel cele
celor ceva chiar ci cind cine cineva cit cita cite citeva citi citiva conform cu cui cum cumva d da daca dar dat de
deasupra deci decit degraba deja desi despre din dintr dintre doar dupa ea ei el ele era este eu exact f face fara
fata fel fi fie foarte fost geaba h i ia iar ii il imi in inainte inapoi inca incit insa intr intre isi iti j k l la
le li lor lui m ma mai mare mi mod mult multa multe multi n ne ni nici niciodata nimeni nimic niste noi nostri nou
noua nu numai o or ori orice oricum p pai parca pe pentru peste pina plus prea prin putini r s sa sai sale sau se si
sint sintem spre sub sunt suntem sus t te ti toata toate tocmai tot toti totul totusi tu tuturor u ul ului un una unde
unei unele uneori unii unor unui unul v va voi vom vor vreo vreun
""",
        "ru": """
а без более больше бы был была были было быть в вам вами вас ваш ваша ваше вашего вашей вашем вашему ваши вашими ваших
вашу вдруг ведь весь вместо во вот впрочем все всегда всего всей всем всеми всему всех всю вся всё вы где да даже для
до другой его ее ей ему если есть еще ещё её ж же за зато зачем здесь и из или им ими иногда их к ка каждый как какая
какие каким какими каких какого какое какой каком какому какую кем когда кого кое ком кому конечно которая которого
которое которой котором которому которую которые который которым которых кроме кстати кто куда ли либо лишь между меня
мне много мной мною мог могла могли могут мое моего моей моем моему может можно мои моим моими моих мой мою моя моё
моём мы на над надо наконец нам нами напомни напомните нас насчет насчёт наш наша наше нашего нашей нашем нашему наши
нашим нашими наших нашу не него нее ней нельзя нем нему нет нею неё ни нибудь никогда ним ними них ничего но ну нём о
об обо один одна однако одно около он она они оно опять от откуда ото отчего очень перед по под подо подскажи
подскажите пожалуйста пока после потом потому почему почти при про против пусть раз разве расскажи расскажите с сам
сама сами само самому свое своего своей своем своему свои своим своими своих свой свою своя своё своём себе себя
сейчас скажи скажите скольких сколько со собой совсем среди та так такая также такие таким такого такое такой там твое
твоего твоей твоем твоему твои твоим твоими твоих твой твою твоя твоё твоём те тебе тебя тем теми теперь тех то тобой
тобою тогда того тоже той только том тому тот ту тут ты у уж уже хоть хотя чего чей чем чему через что чтоб чтобы чуть
чье чьего чьей чьем чьему чьи чьим чьими чьих чью чья чьё чьём чём эта эти этим этими этих это этого этой этом этому
этот эту я
""",
        "sr": """
a ako ali bi bih bila bili bilo bio bismo biste biti bumo da do duž ga hoće hoćemo hoćete hoćeš hoću i iako ih ili iz
ja je jedna jedne jedno jer jesam jesi jesmo jest jeste jesu jim joj još ju kada kako kao koja koje koji kojima koju
kroz li me mene meni mi mimo moj moja moje mu na nad nakon nam nama nas naš naša naše našeg ne nego neka neki nekog
neku nema netko neće nećemo nećete nećeš neću nešto ni nije nikoga nikoje nikoju nisam nisi nismo niste nisu njega
njegov njegova njegovo njemu njezin njezina njezino njih njihov njihova njihovo njim njima njoj nju no o od odmah on
ona oni ono ova pa pak po pod pored prije s sa sam samo se sebe sebi si smo ste su sve svi svog svoj svoja svoje svom
ta tada taj tako te tebe tebi ti to toj tome tu tvoj tvoja tvoje u uz vam vama vas vaš vaša vaše već vi vrlo za zar će
ćemo ćete ćeš ću što
""",
        "st": """
a ba bane bona e ea eaba empa ena ha hae hape ho hore ka ke la le li me mo moo ne o oa re sa se tloha tsa tse
""",
        "sv": """
alla allt att av blev bli blir blivit de dem den denna deras dess dessa det detta dig din dina ditt du där då efter ej
eller en er era ert ett från för ha hade han hans har henne hennes hon honom hur här icke ingen inom inte jag ju kan
kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin
sina sitta själv skulle som så sådan sådana sådant till under upp ut utan vad var vara varför varit varje vars vart
vem vi vid vilka vilkas vilken vilket vår våra vårt än är åt över
""",
        "tr": """
acaba ama aslında az bazı belki biri birkaç birşey biz bu da daha de defa diye en eğer gibi hem hep hepsi her hiç ile
ise için kez ki kim mu mü mı nasıl ne neden nerde nerede nereye niye niçin sanki siz tüm ve veya ya yani çok çünkü şey
şu
""",
    }
)
