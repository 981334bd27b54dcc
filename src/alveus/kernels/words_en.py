"""How English marks its registers: cues from its grammar, a register a line of phrases. Data.

A phrase is matched word by word, by stems or, in some registers, by forms; `*` stands for one word of any kind.
"""

from typing import Final

NEGATORS: Final = """
not no never none nobody nothing nowhere neither nor without cannot can't won't don't doesn't didn't isn't
aren't wasn't weren't shouldn't wouldn't couldn't mustn't mayn't needn't hasn't haven't hadn't ain't shan't
hardly
"""

REGISTERS: Final = {
    "must": """
must, have to, has to, had better, need to, needs to, needn't, ought to, shall, should, is to be, are to be,
supposed to, required, requires, mandatory, compulsory, obligatory, make sure, be sure to, see to it, ensure,
it is essential, at least, at most, no more than, no less than, not more than, no later than, maximum, minimum,
limit is, ceiling, cap is, until, only after, only when, only if, only once, only then, not before, needs,
has to be, goes through, go through, comes first, come first, goes first, first, stick to, keep to, hold to
""",
    "forbid": """
never, must not, mustn't, may not, cannot, shall not, should not, shouldn't, don't ever, do not, not allowed,
not permitted, forbidden, prohibited, banned, ban, off limits, off-limits, no-go, taboo, out of the question,
unacceptable, no exceptions, no exception, under no circumstances, in no case, not even, avoid, refrain,
stay away, keep away, keep out, steer clear, stop doing, no more, not again, never again, ever again,
don't want, do not want, won't have, not acceptable, hands off, leave alone, leave untouched, don't touch,
no one, nobody, nothing, nowhere, isn't allowed, aren't allowed, isn't to, aren't to, not to, rather not,
i'd not, wouldn't, won't, not be, don't, without, rule out, ruled out, not under any
""",
    "habit": """
always, every, every time, each, each time, any, anything, whenever, whatever, wherever, everywhere, anywhere,
usually, normally, generally, in general, as a rule, by default, as usual, as always, as ever, consistently,
without exception, all, throughout, at all times, regularly, routinely, habit, in all cases, daily, weekly,
monthly, once a week, once a day, once a month, on mondays, on tuesdays, on wednesdays, on thursdays,
on fridays, on saturdays, on sundays, mornings, evenings, for everything, for everyone, both, per, only
""",
    "rule": """
rule, rules, policy, convention, standard, principle, guideline, practice, procedure, protocol, agreement,
requirement, standing order, house style, our way, that order, the order, the way we, the way i, how we, how i,
our style, we never, we always, we do, we don't, we use, we keep, we write, we store, we say, we call, we only,
we go, we run, here, in this house, in this project, in this team, set in stone, note down, write this down,
keep in mind, bear in mind, remember, don't forget, note that, for the record, mind you, one thing, important,
deal, the thing is
""",
    "when": """
if, when, whenever, before, before any, after, once, unless, until, in case, as soon as, while, where, for any,
on any, upon, prior to, otherwise, or else, instead of, rather than, then, first, only
""",
    "want": """
i want, i need, i'd like, i would like, i prefer, i'd prefer, i'd rather, i expect, i hate, i like, i love,
i care, i can't stand, i don't like, i do not like, i don't need, i'm allergic, i am allergic, i'm not, we want,
we need, we prefer, we expect, please, let's, let us, for me, call me, tell me, give me, show me, send me,
ask me, ask first, ask before, leave me, spare me, to me, my preference, suits me, works for me, that's how,
this is how, exactly how, just how, the way i like
""",
    "why": """
because, because of, since, so that, reason, reasons, therefore, that's why, which is why, otherwise, or else,
due to, thanks to, for the sake, in order to, cost us, cost me, taught us, learned, learnt, the point is,
the purpose, that is how, that's how, after what happened, last time, the hard way, burned, burnt, bitten
""",
    "decide": """
decided, decision, chose, chosen, choose, choice, picked, pick, went with, go with, going with, settled on,
settle on, opted, agreed, agree, as agreed, selected, preferred over, over, in favour, in favor, instead,
stick with, sticking with, stay with, staying with, stays, remains, stands, the reason, rather than
""",
    "revise": """
from now on, from now onwards, from then on, from today, from tonight, from tomorrow, from next, from this minute,
from this day, from this week, from this month, as of, starting today, starting tonight, starting tomorrow, starting
next, starting this, starting from, starting with, starting monday, starting tuesday, starting wednesday, starting
thursday, starting friday, starting saturday, starting sunday, from * we, from * you, from * on, from * onwards, this
week on, this month on, next week on, monday on, today on, effective, going forward, henceforth, from here on,
onwards, in future, in the future, until further notice, no longer, not anymore, anymore, any more, any longer, no
more, instead of the old, change of plan, change of plans, change of rule, change of policy, changed my mind, changed
our mind, changed our minds, change my mind, i've changed, we've changed, we're changing, i'm changing, let's change,
change it to, change that to, changed to, changing to, change the rule, change the order, new rule, new rules, new
policy, new limit, new plan, new way, new line, new order, new routine, new arrangement, new deal, new habit, new
custom, new regime, new deadline, new budget, new threshold, new schedule, new time, new house rule, new default, new
convention, new standard, new procedure, different rule, switch to, switched to, switching to, we're switching, i'm
switching, switch from, switch over, switch it to, switched over, move to, moved to, moving to, move over to, moved
over to, move from, moved from, moving from, we're moving, swap, swapped, swapping, replace, replaced, replaces,
replacing, replacement, drop the, dropping the, dropped the, retire, retired, retiring, abandon, abandoned,
abandoning, scrap, scrapped, scrapping, ditch, ditched, ditching, gets cancelled, is cancelled, are cancelled, gets
canceled, is canceled, are canceled, cancel that, cancel the, forget what, forget the old, forget the idea, so forget,
just forget, please forget, forget about, never mind the, scratch that, strike that, correction, formerly, not * but,
i'm done with, we're done with, done with, gave up on, give up on, do away with, did away with, get rid of, put an end
to, that's it with, that's it for, that's the end, that's that, enough of, enough then, raise * to, raise it to,
raised to, lower * to, lower it to, lowered to, extend * to, extended to, shorten * to, shortened to, cut it to, cut
to, cut down to, increased to, reduced to, bump * to, bumped to, set it to, goes up to, goes down to, takes over, took
over, taking over from, stop doing, stop the, stop using, reverse, reversed, revoke, revoked, supersede, supersedes,
superseded, overrule, overruled, void, obsolete, out of date, outdated, deprecated, lifted, relax the, loosen the,
tighten the, amend, amended, the old * is, the old * are, the old * was, the old * * is, the old * * are, the old * *
was, old rule, old order, thrown away, threw away, thrown out, threw out, on second thought, on second thoughts, i
take back, take that back, different now, has changed, have changed, rule changes, allowed now, now allowed, may now,
can now, goes back to, went back to, back to, we now, you now, is now, are now, now goes, now go, these days we, phase
out, phased out, sunset, migrate to, migrated to, let's try, let's go with, let's have, let's stop, let's drop, let's
switch, let's move, let's use, let's make it, was a nice idea, was a mistake, turned out too, doesn't work out, didn't
work out, isn't working, grown out of, outgrown, is out of the, are out of the, is out now, are out now, change * to,
change * * to, change * from, change * * from, changes to, changes from, changed from, change to, small change, one
change, another change, two changes, little change, quick change, a change to, a change in, as from, with effect from,
with immediate effect, beginning today, beginning next, beginning monday, beginning tuesday, beginning wednesday,
beginning thursday, beginning friday, beginning in, starting in, starting on, starting at, has left, is leaving, is
retiring, has retired, is no more, discontinued, is history, are history, has expired, has ended, has been cancelled,
we cancelled, we've cancelled, i cancelled, i've cancelled, we've stopped, we stopped, i've stopped, we've dropped, we
dropped, i've dropped, we've moved, we've replaced, we've switched, we've left, the new * is, the new * are, the new *
will, our new * is, our new * are, new number is, new address is, let's raise, let's lower, let's shorten, let's
extend, let's cut, let's set, let's double, let's halve, let's bring, let's go to, let's go back, let's loosen, let's
tighten, let's push, let's make that, let's make them, let's keep it to, double it, halve it, reconsidered, i was
wrong, we were wrong, my mistake, allowed again, hand over to, handed over to, hands over to, is taking over, will
take over, we'd better, i'd sooner, we'd rather, try it with, try it without, from now, not with * but, not at * but,
not on * but, not to * but
""",
    "shift": """
now, new, newly, old, the old, was, were, before, until now, so far, nowadays, these days, currently, changed,
change, changes, moved, gone, over, other, another, different, longer, more, stop, stopped, drop, dropped,
starting, update, updated, as of, yet, but, rather, only, up to, already, soon, next week, next month,
this month, has left, is leaving
""",
    "recall": """
as agreed, as we agreed, as discussed, as i said, as we said, as said, as before, as usual, as always, as ever,
as planned, the usual, like always, like last time, again, still, remember, you know, you know the, told you,
i told, we said, i said, we agreed, already said, same as, same rule, still holds, holds, stays, remains,
stands, keep to, keeping, same, stay with, staying with, sticking, once more, repeat, another reminder, reminder,
don't forget, do not forget, the rule, our rule, your rule, per, according to, by our, in line with, the same,
way we, way you, the way you, well known, our limit, our
""",
    "self": """
you are, you're, your name, your role, your job, your task, your tone, your style, your answers, your answer,
your replies, your reply, your messages, as an assistant, as my, i am, i'm, call me, address me, talk to me,
speak, tone, style, voice, formal, informal, polite, politely, brief, briefly, short, terse, concise, wording,
spelling, language, in english, in german, in french, in russian, in spanish, emoji, emojis, jargon, greeting,
greetings, bullet points, bullets, paragraph, paragraphs, sentence, sentences, headline, summary, answer,
answers, reply, replies, explain, explanation, question, format, formatting, units, metric, clock, time zone,
timezone, currency, name, names, nickname, pronoun, colour, font, read, listen, tell me
""",
    "once": """
today, tonight, tomorrow, yesterday, this morning, this afternoon, this evening, this week, this time,
just this once, this once, for once, for now, for today, right now, at the moment, for the moment, this one,
this file, just now, in an hour, in a minute, last night, last week, next week, one off, one-off, exception,
temporarily, tuesday, monday, wednesday, thursday, friday, saturday, sunday, later, minutes, o'clock
""",
    "report": """
done, fixed, added, removed, moved, found, checked, looked, ran, was, were, had, did, got, went, came, made,
sent, said, told, wrote, created, opened, closed, deployed, restarted, updated, deleted, merged, committed,
passed, failed, measured, counted, it's at, there are, there is, there were, took, showed, shows, started,
finished, replied, answered, saw, gave, built, set, put, left, i've, i have, we've, has been, have been
""",
    "hypothetical": """
imagine, suppose, supposing, what if, hypothetically, in theory, theoretically, if we ever, if i were,
if it were, if only, let's pretend, pretend, would be fun, wouldn't it, would be nice, daydream, daydreaming,
dream, dreaming, fantasy, thought experiment, picture this, say we, in another life, in a parallel, would you,
could we just, wouldn't that, as if, were i, just thinking aloud, thinking out loud, for the sake of argument,
let us say, in an ideal world, some day, someday,
in a perfect world, if it were up to me, if i had my way, wouldn't it be, how funny would it be, if we just,
just for fun, purely hypothetical, a hypothetical, suppose we, imagine if, what would happen if, i sometimes dream
""",
    "joke": """
haha, hahaha, hehe, lol, lmao, rofl, just kidding, kidding, joking, only joking, i'm joking, joke, jokes, jk,
just teasing, teasing, pulling your leg, in jest, irony, ironically, sarcasm, sarcastic, /s, not serious,
not seriously, as a prank, april fool, tongue in cheek,
what could go wrong, what could possibly go wrong, said nobody, said no one, yeah right, as if that, sure why not,
xd, pun intended, don't take that seriously, i'm being sarcastic, i was joking, you wish, in my dreams
""",
    "report_speech": """
says, say that, said that, reckons, reckon, claims, claimed, suggests, suggested, insists, insisted, argues,
argued, recommends, recommended, we recommend, proposes, proposed, swears, swore, boasts, believes,
according to him, according to her, according to them, quoting, i quote, unquote, i read, it says,
the sign says, the manual says, somebody said, someone said, people say, he said, she said, they said, he wants,
she wants, they want, wants me to, wants you to, told me to, wanted me to, asked me to tell, his advice,
her advice, their advice, his motto, her motto, their motto, proverb, saying goes, overheard, heard that,
heard someone, in the article, in the podcast, in the film, in the movie, on the radio, on television,
tell * to do,
swears by, thinks we should, thinks you should, thinks that, keeps saying, is convinced, wants us to,
would like us to,
his idea, her idea, their idea, his words, her words, their words, forwarded, on the forum, in a forum,
the letter says,
the mail says, somebody wrote, someone wrote, he wrote, she wrote, they wrote, they write, he writes,
she writes, complains that, demands that,
tells me that, told me that, read somewhere, read an article, some guy, some blog
""",
}

IMPERATIVES: Final = """
add ask answer apply attach avoid back be begin book break bring build buy call cancel carry catch change charge
check choose cite clean clear close collect come comment commit compare confirm consult convert copy correct
count cover create cut date decline delete deliver describe disclose divide do don't double draft draw drop eat
edit email encrypt end ensure escalate estimate exclude explain export extend fail fetch file fill filter find
finish fix flag follow forget format forward freeze get give go grade group guard halt hand handle have hide
hold ignore import include inform insert inspect invent invite invoice join keep label lead leave let limit link
list listen load lock log look mail make mark match measure mention merge mind mount move name note notify
number offer omit open order organise organize pack park paste pause pay phone pick pin place plan play post
prefer prepare present preserve print prioritise prioritize propose protect prove publish pull push put
quarantine quote raise read record refer refuse refund reject release remember remind remove rename repeat
rephrase replace reply report request require reserve reset resolve restart restore return reuse revert review
rewrite roll round route run save say scan schedule search see select send separate serve set share ship show
shut sign skip sleep sort speak spell split spare stage start state stay stick stop store strip submit suggest
summarise summarize switch tag take talk teach tell test thank throw tidy track translate treat trim trust try
turn type unify update upload use validate verify visit wait walk warn watch water weigh work wrap write
"""
"""Verbs that open an order; a sentence that begins with one, after what may stand before it, is taken as an order."""

OPENERS: Final = """
and but so then now also please just ok okay right oh well yes no sure fine good great again always kindly first
second next finally instead otherwise meanwhile btw anyway still only simply alright hey thanks by the way for here
therefore
"""
"""What may stand before an order without being part of it."""

FIRST_PERSON: Final = "i we i've we've i'd we'd i'm we're"
"""Who speaks for himself: what he says is no report of what others say."""

ONESELF: Final = "i i'm i'll i've i'd"
"""Who speaks of himself …"""

SHARED: Final = (
    "you you're you'll your yours we we're we'll we've our ours us let's everybody everyone nobody all please"
)
"""… and who else a statement may be for."""

I_ENDINGS: Final = ""
"""Endings of what I do."""

CEASING: Final = "stop stopped stopping quit cease ceased"
"""Verbs that end what is done, where a gerund follows them."""

GERUND: Final = "ing"

LATELY: Final = "now nowadays"
"""Where one stands in a clause, but not at its beginning, the clause says what was not so before …"""

NOT_LATELY: Final = "right just by until till for even and but from so up to not"
"""… unless one of these is before it."""

INSTEAD: Final = "instead"
"""Where a clause ends with one, it says what is to be in place of something."""

REFUSALS: Final = "don't, do not, never"
"""What makes a ban of an order."""

IMPERATIVE_ENDINGS: Final = ""
WE_ENDINGS: Final = ""
