"""What each kernel holds, by example: sentences of many trades, in English and Russian. Data.

A rule is of the kernel whose examples it is nearest to in meaning, with what its grammar says. The sentences are made
up, of trades as far apart as could be thought of, so that what they share is how such things are said.
"""

from typing import Final

IDENTITY: Final = """
Keep your answers short and get to the point.
Start with the conclusion, details only if I ask.
Address me formally and use my last name.
Write to me in German, but leave quotations in the original.
Use metric units and the 24-hour clock when you talk to me.
Your tone with customers is warm but never chummy.
You are the night porter of our hotel, and you speak for the house.
Tell me how sure you are of each statement.
Mark what you know and what you only suspect.
I am dyslexic, so short lines and plain words, please.
I'm deaf in one ear, send me text rather than voice notes.
The patient is allergic to nuts, keep that in mind with every recipe.
No emojis, no exclamation marks, no small talk.
Use American spelling in everything you publish for us.
Prices are always given in euros including tax.
Dates are written as day, month, year.
Call me Sam, not Samuel.
You advise, the doctor decides.
You may look at the accounts but you do not move money; I do that.
Explain it to me like to a beginner, without jargon.
When you report, begin with what it means for the guests, then the cause, then the remedy.
Give the source of each number you quote.
Speak in the first person plural in letters to clients.
Your summaries have three points, no more.
Be frank with me, say it when you disagree.
I read on a phone, so no wide tables.
Always say who said it and on which page.
Keep a dry, even tone, even when others are rude.
You draft, the editor signs.
Names stay in their original spelling.
I'm a vegetarian and I don't drink.
Your voice is calm and a little old-fashioned.
Ask one question at a time.
Admit it when you don't know.
Temperatures in Celsius, distances in kilometres.
Отвечай коротко и по существу.
Сначала вывод, подробности только по просьбе.
Обращайся ко мне на «вы» и по имени-отчеству.
Пиши по-английски, термины не переводи.
Тон с клиентами тёплый, но без панибратства.
Ты библиотекарь нашей школы и говоришь от её имени.
Говори, в чём уверен, а что только предполагаешь.
Я плохо вижу, поэтому крупно и без мелких таблиц.
У меня аллергия на орехи, учитывай это в рецептах.
Без смайликов, без восторгов и без лишних слов.
Цены указывай в рублях с налогом.
Даты пиши как день, месяц, год.
Зови меня Сашей, не Александром.
Ты советуешь, решает врач.
Ты только смотришь счета, деньги перевожу я.
Объясняй просто, без терминов.
В отчёте сначала то, что важно гостям, потом причина, потом меры.
К каждой цифре давай источник.
Письма пиши от лица «мы».
Сводка — три пункта, не больше.
Говори прямо, если не согласен.
Температура в градусах Цельсия, расстояния в километрах.
Держи ровный тон, даже если тебе грубят.
Ты готовишь черновик, подписывает редактор.
Имена оставляй в исходном написании.
Я вегетарианец и не пью.
Задавай по одному вопросу.
Если не знаешь, так и скажи.
Время указывай местное, в формате 24 часов.
Я левша и дальтоник, помни об этом.
The assistant writes in plain English for readers who are not experts.
The agent gives the recommendation first and the arguments after it.
The agent keeps to three sentences unless more is wanted.
Replies come without an introduction and without a closing formula.
Quantities are given in grams and millilitres.
Times are shown in the local zone of the reader, with 24 hours.
All timestamps that people see are in Eastern time.
Amounts are in dollars, rounded to whole numbers.
Our house style is the Oxford comma and Canadian spelling.
Say "I don't know" rather than make something up.
Every figure carries a label: measured, estimated or assumed.
Separate what the witness said from what you conclude.
You prepare the order, a human confirms it.
The agent reads the patient file and suggests, but the physician writes in it.
Marta owns the shop and decides; Jan only does the deliveries.
I'm short-sighted and use a screen reader, so describe pictures in words.
I have migraines, keep the page dark and the paragraphs small.
I can't tell blue from purple, use labels.
I'm new to statistics, define each term the first time.
I'm a lawyer, you can skip the basics.
Weekly reports are one page, problems at the top.
Structure each review as strengths, weaknesses, verdict.
Letters begin with the name and end with best regards.
No tables in chat, prose only.
Humour is fine with colleagues, never at a customer's cost.
Use "we" for the museum and "you" for the visitor.
Speak to the children as equals and use simple words.
Quote poems in the original with a translation below.
Present two options with their price and say which you'd take.
When you are unsure, ask instead of guessing.
Be patient and encouraging with beginners.
Proper names are not translated.
Be matter-of-fact, no superlatives and no praise.
Use first names in the team and surnames with authors.
Numbers below ten are written as words.
He prefers phone to mail, and mornings to evenings.
Агент пишет простым языком, для неспециалистов.
Сначала рекомендация, потом доводы.
Ответ не длиннее трёх предложений.
Без вступлений и без прощаний.
Количества в граммах и миллилитрах.
Время для людей местное, по часам читателя.
Все отметки времени для заказчика по Екатеринбургу.
Суммы округляем до целых рублей.
Придерживаемся буквы «ё» и кавычек-ёлочек.
У каждой цифры пометка: измерено или оценка.
Отделяй факты от догадок.
Разделяй, что сказал свидетель и что ты вывел сам.
Ты готовишь заявку, подтверждает человек.
Ассистент читает карту и советует, записи в неё вносит врач.
Марта хозяйка и решает, Ян только возит.
Пользуюсь экранным диктором, описывай картинки словами.
Путаю синий с фиолетовым, подписывай.
Я новичок в статистике, объясняй каждый термин.
Я юрист, основы можно пропустить.
Недельный отчёт на одну страницу, проблемы сверху.
Рецензия строится так: сильное, слабое, вывод.
Письмо начинаем с имени и кончаем подписью.
В чате без таблиц, только текстом.
С детьми говори на равных и простыми словами.
Стихи цитируем в оригинале, ниже перевод.
Предлагай два варианта с ценой и говори, какой взял бы сам.
Если не уверен, переспроси.
С новичками терпеливо и ободряюще.
Имена собственные не переводим.
Спокойно и по делу, без похвал и превосходных степеней.
В команде на «ты», с авторами на «вы».
Числа до десяти пишем словами.
Он любит звонки, а не письма.
"""

DECISION: Final = """
When a delivery is late, call the shop first and the driver second.
Before you send an invoice, have the totals checked by a second person.
We chose the smaller hall because the acoustics are better.
We settled on oak rather than pine, since it lasts three times as long.
Each Monday the stock is counted and the list goes to the kitchen.
If a guest complains twice, offer the refund at once and ask later.
Backups are restored once a month to see that they work.
Orders are placed on Wednesday mornings.
Every claim gets a second reviewer before it goes out.
Start each lesson with a revision of the last one.
If the fever is above 39, call the nurse, then write it down.
Ask me before you buy anything above fifty euros.
Weigh the flour first, then calibrate the scale, then mix.
Questions from the press go to Anna.
At night the first call goes to the caretaker.
The alarm threshold for the freezer is minus fifteen degrees.
We keep the recordings for ninety days.
New suppliers go through a trial order first.
Changes to the menu are made in the shared folder and printed from there.
We use the regional bank for payroll because of its fees.
Announcements are made in the team's channel.
The newsletter goes out every second Friday.
A broken tool gets a red tag and a repair slip on the same day.
Sort the citations by year, then by author.
Take a photograph and the meter reading before you replace a part.
Drafts are reviewed by two people, then published.
Use the template for contracts and the new font for headings.
Translate with the glossary, check with a native speaker, then send.
When two sources disagree, take the primary one.
The data is cleaned with one script, and plotted with one library.
Reports are stored in the archive folder, one file a week.
Prefer the train for anything under five hours.
Return what is damaged within a week and note the batch number.
First measure, then cut.
We moved to the cheaper printer, as it does the same for half the price.
Если доставка опаздывает, сначала звони в магазин, потом водителю.
Перед отправкой счёта суммы проверяет второй человек.
Выбрали малый зал, потому что там лучше акустика.
Остановились на дубе, а не на сосне: он служит втрое дольше.
Каждый понедельник пересчитываем склад, список идёт на кухню.
Если гость жалуется дважды, сразу возвращаем деньги, разбираемся потом.
Раз в месяц проверяем копии восстановлением.
Заказы делаем по средам утром.
Каждую заявку перед отправкой смотрит второй сотрудник.
Урок начинаем с повторения прошлого.
Температура выше 39 — зовём медсестру, потом записываем.
Покупки дороже пяти тысяч согласуй со мной.
Сначала взвесить муку, потом замешивать.
Вопросы прессы передавай Анне.
Ночью первым звони сторожу.
Порог тревоги в морозилке — минус пятнадцать.
Записи храним девяносто дней.
Новых поставщиков начинаем с пробного заказа.
Меню правим в общей папке и печатаем оттуда.
Объявления публикуем в общем канале.
Рассылка уходит каждую вторую пятницу.
Сломанный инструмент помечаем и в тот же день пишем заявку на ремонт.
До замены детали сними показания и сфотографируй.
Черновик читают двое, затем публикуем.
Если источники расходятся, берём первичный.
Отчёты складываем в архив, один файл в неделю.
До пяти часов пути едем поездом.
Сначала измерь, потом режь.
Перешли на другой принтер: то же самое за полцены.
Данные чистим одним скриптом, графики строим одной библиотекой.
The agent asks the owner, with a reason, before ordering anything new.
Before each opening the whole checklist is walked through, and only then do the doors open.
If returns exceed five per cent, stop the sale first and look for the cause afterwards.
A failed sample is set aside and reported the same day.
Every complaint begins with reproducing the fault.
We picked the older archive format because it can be read in fifty years.
The cooperative was chosen over the bank, since it charges nothing for transfers.
Lessons are planned on Sundays and published on Monday mornings.
Proofs are kept for two weeks, then thrown away.
Three reminders a month apart, then the case goes to collection.
A draft is done when two colleagues have read it.
Urgent cases go to the duty phone, all others into the queue.
The on-call list starts with Vera, then Tom.
Expenses are booked in the ledger and checked against the bank at the end of the month.
File names begin with the date, then the author.
Titles of entries are short sentences with a verb.
All recipes are changed in the master copy and printed from there.
Spellcheck and layout are done with one tool.
The index is rebuilt every night, and restored on a spare machine once a quarter.
Take the patient's temperature and pressure before any medicine.
First photograph the site, then dig.
Outliers are checked by hand before the average is taken.
When the pump stops, save the log first, then start it again.
Old stock goes out before new stock.
Contracts above ten thousand need two signatures.
We use the second supplier when the first is more than three days late.
Whoever finds the leak closes the valve and calls the office.
Results are confirmed on a second data set before they are announced.
Notices to tenants go by letter and by mail.
Each experiment gets its own notebook page and number.
If the translation is unclear, the original wins.
The threshold for a restock is twenty boxes.
Photos are stored in the shared drive, not in the chat.
A new volunteer works the first two shifts with an old one.
Перед покупкой нового агент спрашивает хозяина и называет причину.
Перед каждым открытием проходим весь список, и только потом открываем двери.
Если возвратов больше пяти процентов, сначала снимаем с продажи, причину ищем потом.
Бракованный образец откладываем и в тот же день оформляем.
Каждая жалоба начинается с того, что повторяем неисправность.
Выбрали старый формат архива, потому что его прочтут и через полвека.
Взяли кооператив, а не банк: он не берёт за переводы.
Уроки планируем в воскресенье, публикуем в понедельник утром.
Пробы храним две недели, потом выбрасываем.
Срочное идёт на дежурный телефон, остальное в очередь.
Первой звонить Вере, потом Тому.
Расходы заносим в книгу и сверяем с банком в конце месяца.
Имя файла начинается с даты, потом автор.
Рецепты меняем только в основной тетради и печатаем из неё.
Указатель строим каждую ночь, раз в квартал проверяем восстановлением.
Перед лекарством измеряем температуру и давление.
Сначала фотографируем участок, потом копаем.
Насос встал — сначала сохраняем журнал, потом запускаем.
Сначала старые запасы, потом новые.
Договоры дороже миллиона подписывают двое.
Если первый поставщик опаздывает на три дня, берём у второго.
Кто нашёл течь, закрывает вентиль и звонит в контору.
Результат проверяем на второй выборке, потом объявляем.
Жильцов оповещаем письмом и по почте.
Порог для дозаказа — двадцать коробок.
Фотографии складываем в общую папку, а не в чат.
Новый волонтёр первые две смены работает со старым.
Взяли этого перевозчика, потому что он дешевле вдвое и не теряет груз.
Отпуск согласуем за две недели.
"""

ANTI: Final = """
Never give out a guest's room number.
Do not promise delivery dates; we were sued for that once.
No discounts without the owner's consent, ever.
Don't open parcels that are addressed to others.
Nothing with the patient's name leaves the ward.
Never mix bleach with acid cleaners, that sent two people to hospital.
We don't quote from memory, a wrong quotation cost us a retraction.
No deliveries after eight in the evening.
Don't touch the exhibits in room four, they are on loan.
Never delete the originals after scanning.
Do not call the client on weekends.
Passwords are never written on paper.
No invented citations, not even as placeholders.
We must not send more than ten letters an hour, or the provider blocks us.
Never plane against the grain; that ruined the last table.
Don't pour oil down the sink again.
Do not share the exam questions with anybody.
No photographs of children on the site.
Never water the plants at noon, we lost a whole bed that way.
It is forbidden to lend the keys to contractors.
Don't copy code or text without its licence.
Never answer in the name of the board.
Don't average the two sensors, that hid the fault for a month.
Never leave the oven unattended.
The old ledger is off limits until the audit is over.
No spoilers in headlines.
Do not guess a dose.
Stop rounding the amounts, the sums no longer matched.
Not one personal detail in a public thread.
Avoid paying in advance; we lost a deposit that way.
Никогда не называй номер комнаты гостя.
Не обещай сроков доставки, за это нас уже судили.
Никаких скидок без согласия хозяйки.
Не вскрывай чужие посылки.
Ничего с фамилией пациента не выходит из отделения.
Нельзя смешивать хлорку с кислотой, двое попали в больницу.
По памяти не цитируем, ошибка стоила нам опровержения.
После восьми вечера не доставляем.
Экспонаты в четвёртом зале не трогать, они чужие.
Никогда не удаляй оригиналы после сканирования.
По выходным клиенту не звоним.
Пароли на бумаге не пишем.
Никаких выдуманных ссылок, даже временно.
Больше десяти писем в час слать нельзя, провайдер заблокирует.
Не строгай против волокон, так испортили стол.
Больше не лей масло в раковину.
Вопросы экзамена никому не показывать.
Фотографии детей на сайт не выкладываем.
В полдень не поливаем, так мы потеряли грядку.
Запрещено давать ключи подрядчикам.
Не отвечай от имени правления.
Не усредняй датчики, так месяц не видели поломку.
Печь без присмотра не оставляем.
Старый журнал не трогаем до конца проверки.
Дозу наугад не назначаем.
Никаких личных данных в открытой переписке.
Предоплату не вносим, однажды потеряли залог.
Не округляй суммы, итоги разошлись.
Never lend the master key, a flat was emptied that way.
Do not publish before the embargo ends.
The agent never mentions other patients.
Never pay an invoice twice to be on the safe side; we never saw that money again.
It is not allowed to bypass the alarm, not even for a minute.
No drinks near the manuscripts after the accident with the tea.
Never paint over damp walls, we had to redo the whole corridor.
Don't use pupils' real names in examples.
Customers' addresses never leave the office.
Never change the dose and the drug on the same day; that nearly killed somebody.
Don't fake the signature of a colleague, whatever the hurry.
Nobody works alone on the roof.
Do not hide a failed measurement.
We may not ask the registry more than twice a minute, they lock us out.
Never cut two supports at once, the ceiling came down that time.
The bees in hive seven must be left alone till May.
No advertising in condolence letters.
Don't overwrite the recordings; last year's were lost like that.
Never test on the real accounts.
Nothing is thrown out without a second look, we lost a manuscript that way.
Don't muffle the smoke detector and forget it.
Never leave a warning switched off without a date.
Don't launch anything the day before a holiday.
Never silently skip a failed step.
No shortcuts through the clean room.
Do not wipe the disk to win space; look first whose files they are.
Никогда не одалживай общий ключ, так обчистили квартиру.
До снятия запрета ничего не публикуем.
О других пациентах не говорим.
Счёт дважды не оплачиваем, те деньги мы больше не видели.
Сигнализацию отключать нельзя, даже на минуту.
Никаких напитков рядом с рукописями после той истории с чаем.
Не красим сырые стены, пришлось переделывать весь коридор.
Настоящие имена учеников в примерах не используем.
Адреса клиентов из конторы не выносим.
Нельзя менять дозу и препарат в один день, едва не погубили человека.
Подпись коллеги не подделываем, как бы ни спешили.
На крыше в одиночку не работают.
Неудачный замер не прятать.
Чаще двух раз в минуту реестр спрашивать нельзя, заблокируют.
Две опоры сразу не снимаем, в тот раз рухнул потолок.
Улей номер семь до мая не трогаем.
Записи не перезаписывай, прошлогодние так и пропали.
На настоящих счетах не проверяем.
Ничего не выбрасываем без второго взгляда, так потеряли рукопись.
Предупреждение без срока не выключаем.
Накануне праздников ничего не запускаем.
Сбой молча не пропускаем.
Без перчаток к образцам не прикасаться.
Личные данные в письмах не пересылаем.
"""

BY_KIND: Final = tuple(tuple(text.strip().split("\n")) for text in (IDENTITY, DECISION, ANTI))
"""The sentences for identity, decision and anti, in that order."""
