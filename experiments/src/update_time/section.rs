//! The figure, tables and words of the report.

use std::path::Path;

use anyhow::Result;
use skipstream::Config;

use super::programs::Program;
use super::times::{Clock, Point, Timed, Times};
use super::{SCORES, ScoreRow};
use crate::markdown::{listed, table};
use crate::peers::setting::Setting;
use crate::plot::{Axis, Chart, Marks, Point as Mark, Scale, Series, Shape};
use crate::record::read_rows;
use crate::scores::Set;
use crate::section::{Answer, Section};
use crate::text::grouped;

const FIGURE: &str = "update-time.svg";

/// Where the paper gives its ratios, and what they are.
const PERCENT: u32 = 10;
const PAPER_BATCH: f64 = 10.0;
const PAPER_WORD2VEC: f64 = 7.3;

/// What the project set out to reach against the real word2vec.
const GOAL: f64 = 100.0;

const UPDATES: [Program; 3] =
    [Program::UpdateMiniBatch, Program::UpdateNoReplays, Program::UpdateIncremental];

/// Draws the figure and writes the section.
pub fn section(folder: &Path) -> Result<Section> {
    let times = Times::read(folder)?;
    let scores: Vec<ScoreRow> = read_rows(&folder.join(SCORES))?;
    chart(&times).save(&folder.join(FIGURE))?;
    let mut body = introduction(&times);
    body += &all_times(&times);
    body += &ratios(&times);
    body += &quality(&scores);
    body += &against_the_paper(&times);
    Ok(Section { answers: answers(&times, &scores), body })
}

fn introduction(times: &Times) -> String {
    let missing: Vec<String> = Program::ALL
        .iter()
        .filter(|&&program| !times.rows.iter().any(|row| row.program == program))
        .map(|program| program.name().into())
        .collect();
    let missing = match missing.as_slice() {
        [] => String::new(),
        missing => format!("\nNot run: {}.\n", listed(missing)),
    };
    let percents = times.percents(Setting::Small);
    let (n1, n2) = percents.first().and_then(|&percent| times.words(percent)).unwrap_or_default();
    let largest = percents.last().and_then(|&percent| times.words(percent)).map_or(n2, |(_, n2)| n2);
    let percents: Vec<String> = percents.iter().map(|percent| percent.to_string()).collect();
    format!(
        "## Update time (section 5.3, Figure 2 (c))

A model of the first n₁ = {} words of the text is brought up to date with n₂ more: {} % of n₁, so {} words and more.
*update* is `skipstream train --model M new.txt` on a copy of the saved model; its time is that of the whole program: start,
load, learn, and save, synced to disk. *live* is learning alone, in a process that has the model in memory, as a service has.
*again* is training from scratch on n₁ + n₂ words: *batch* is ours (AdaGrad, one pass, one thread), *word2vec.c* is
Mikolov's program from the Python package `word2vec` in one pass at its rate of 0.025 (the fair comparison; its default is
five passes, timed apart), *gensim* the Python package in one pass (its default is five). *mini-batch* is skipstream's default,
{}; *without replay* is the paper's Algorithm 2; *incremental* is Algorithm 1, on one thread.

In a round all programs of a point ran one after the other. A time is the median over the rounds
of the median in each, and a ratio the median of those within a round. The paper averaged five trials. Runs in each round:

{}{missing}",
        grouped(n1),
        listed(&percents),
        grouped(n2),
        replay(n1, largest),
        runs(times),
    )
}

/// What the default replays in an update of n₂ words: old words come back once there are more than wait for it.
fn replay(n1: u64, n2: u64) -> String {
    let waiting = Config::default().replay_words as u64;
    let words = grouped(waiting);
    if n1 >= waiting {
        format!("which trains an old word again for each new one, out of the {words} that wait for it")
    } else if n1 + n2 > waiting {
        format!("which trains old words again once more than {words} wait for it: here only in large updates")
    } else {
        format!("which trains old words again once more than {words} wait for it: here nothing is replayed")
    }
}

/// How often each program was timed, as the rows have it.
fn runs(times: &Times) -> String {
    let mut points = Vec::new();
    for setting in [Setting::Small, Setting::Paper] {
        points.extend(times.percents(setting).into_iter().map(|percent| Point { setting, percent }));
    }
    let mut all = times.timed(Setting::Small);
    for timed in times.timed(Setting::Paper) {
        if !all.contains(&timed) {
            all.push(timed);
        }
    }
    let heads: Vec<String> =
        points.iter().map(|point| format!("{} %, {}", point.percent, called(point.setting))).collect();
    let head: Vec<&str> = ["runs"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    let rows = all.into_iter().filter(|timed| timed.clock == Clock::Program).map(|timed| {
        let cell = |&point: &Point| match times.runs(point, timed).as_slice() {
            [] => "–".into(),
            runs => runs.iter().map(usize::to_string).collect::<Vec<_>>().join(" + "),
        };
        [timed.name()].into_iter().chain(points.iter().map(cell)).collect()
    });
    table(&head, rows)
}

/// Everything on two threads, and on one what has no more.
fn shown(times: &Times, setting: Setting) -> Vec<Timed> {
    let is_shown = |timed: &Timed| timed.threads == 2 || timed.program.is_serial();
    times.timed(setting).into_iter().filter(is_shown).collect()
}

fn chart(times: &Times) -> Chart {
    let setting = Setting::Small;
    let shapes = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Cross];
    let shown = shown(times, setting).into_iter().filter(|timed| {
        // A single point makes no line, and more than seven lines would share colours: the table has the others.
        !matches!(timed.program, Program::Word2vecFive | Program::MiniBatch)
            && (timed.clock == Clock::Program || timed.program == Program::UpdateMiniBatch)
    });
    let series = shown.enumerate().map(|(number, timed)| Series {
        label: timed.name(),
        marks: match timed.clock {
            Clock::Live => Marks::Dashed,
            Clock::Program => Marks::PointsAndLine(shapes[number % shapes.len()]),
        },
        points: times
            .percents(setting)
            .into_iter()
            .filter_map(|percent| {
                let y = times.seconds(Point { setting, percent }, timed)?;
                let (_, n2) = times.words(percent)?;
                Some(Mark { x: n2 as f64 / 1e6, y, error: None })
            })
            .collect(),
    });
    Chart {
        title: "Time to take in n₂ more words, our defaults".into(),
        x: Axis { label: "n₂, million words".into(), scale: Scale::Linear },
        y: Axis { label: "seconds".into(), scale: Scale::Log },
        series: series.collect(),
    }
}

fn all_times(times: &Times) -> String {
    let mut text = format!("\n![Seconds against the number of new words]({FIGURE})\n");
    for setting in [Setting::Small, Setting::Paper] {
        let percents = times.percents(setting);
        if percents.is_empty() {
            continue;
        }
        let head: Vec<String> = [format!("seconds, {}", called(setting))]
            .into_iter()
            .chain(percents.iter().map(|percent| format!("n₂ = {percent} %")))
            .collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let rows = times.timed(setting).into_iter().map(|timed| {
            let cell = |&percent: &u32| seconds(times.seconds(Point { setting, percent }, timed));
            [timed.name()].into_iter().chain(percents.iter().map(cell)).collect()
        });
        text += &format!("\n{}", table(&head, rows));
    }
    text
}

fn ratios(times: &Times) -> String {
    let mut text = "\n### How many times faster an update is\n".to_owned();
    for setting in [Setting::Small, Setting::Paper] {
        let percents = times.percents(setting);
        let ends: Vec<u32> = percents.first().into_iter().chain(percents.last()).copied().collect();
        for &percent in ends.iter().take(if ends.first() == ends.last() { 1 } else { 2 }) {
            let point = Point { setting, percent };
            let rows: Vec<Vec<String>> = times
                .timed(setting)
                .into_iter()
                .filter(|timed| !timed.program.is_update())
                .filter_map(|again| ratio_row(times, point, again))
                .collect();
            let first = format!("n₂ = {percent} %, {}", called(setting));
            let head =
                [first.as_str(), "mini-batch", "live", "without replay", "live", "incremental", "live"];
            text += &format!("\n{}", table(&head, rows));
        }
    }
    text + "\nThe columns are updates, on as many threads as the program of the row (*incremental* on one); for *batch*, which
has one thread, *mini-batch* has one where that was measured, and two otherwise.\n"
}

/// What a program takes again, over what each update takes; nothing if it was not timed there.
fn ratio_row(times: &Times, point: Point, again: Timed) -> Option<Vec<String>> {
    times.seconds(point, again)?;
    let mut row = vec![again.name()];
    for program in UPDATES {
        for clock in [Clock::Program, Clock::Live] {
            row.push(times_faster(best_ratio(times, point, again, program, clock)));
        }
    }
    Some(row)
}

/// The ratio to an update on as many threads, or on as many as it was timed with.
fn best_ratio(times: &Times, point: Point, again: Timed, program: Program, clock: Clock) -> Option<f64> {
    best_update(times, point, again, program, clock).map(|(_, ratio)| ratio)
}

fn best_update(
    times: &Times,
    point: Point,
    again: Timed,
    program: Program,
    clock: Clock,
) -> Option<(Timed, f64)> {
    [again.threads, 1, 2].into_iter().find_map(|threads| {
        let update = Timed { program, threads, clock };
        times.ratio(point, again, update).map(|ratio| (update, ratio))
    })
}

fn quality(scores: &[ScoreRow]) -> String {
    let mut percents: Vec<u32> = scores.iter().map(|row| row.percent).collect();
    percents.sort_unstable();
    percents.dedup();
    let mut text = "
### Quality after the update, and after training again

Per cent, by the measures of the paper: Spearman's correlation on word pairs, 3CosMul on analogies. Ours are target + context;
word2vec.c and gensim give targets. Each score is of one model, so that what is chance cannot be told from it.
"
    .to_owned();
    for percent in percents {
        let first = format!("n₂ = {percent} %");
        let mut head = vec![first.as_str()];
        head.extend(Set::ALL.map(Set::name));
        let programs = Program::ALL
            .into_iter()
            .filter(|&program| scores.iter().any(|row| (row.percent, row.program) == (percent, program)));
        let rows = programs.map(|program| {
            let cells = Set::ALL.map(|set| match reported(scores, percent, program, set) {
                Some(score) => format!("{score:.1}"),
                None => "–".into(),
            });
            [program.name().to_owned()].into_iter().chain(cells).collect()
        });
        text += &format!("\n{}", table(&head, rows));
    }
    text + "\n" + &quality_in_words(scores) + "\n"
}

/// The score by the measure that the paper reports.
fn reported(scores: &[ScoreRow], percent: u32, program: Program, set: Set) -> Option<f64> {
    let of = |row: &&ScoreRow| {
        (row.percent, row.program, row.set) == (percent, program, set) && row.measure == set.measure()
    };
    scores.iter().find(of)?.score
}

/// How an update differs from the method that sees all text, trained again.
fn quality_in_words(scores: &[ScoreRow]) -> String {
    let mut percents: Vec<u32> = scores.iter().map(|row| row.percent).collect();
    percents.sort_unstable();
    percents.dedup();
    let mut told = Vec::new();
    for percent in percents {
        for (update, again) in
            [(Program::UpdateMiniBatch, Program::MiniBatch), (Program::UpdateIncremental, Program::Batch)]
        {
            let difference = |set: Set| {
                let of = |program| reported(scores, percent, program, set);
                Some((set, of(update)? - of(again)?))
            };
            let differences: Vec<(Set, f64)> = Set::ALL.into_iter().filter_map(difference).collect();
            if differences.is_empty() {
                continue;
            }
            let points: Vec<String> =
                differences.iter().map(|(set, points)| format!("{} {points:+.1}", set.name())).collect();
            let is_same = differences.iter().all(|(_, points)| *points == 0.0);
            let same = if is_same { " (all scores are the same)" } else { "" };
            told.push(format!(
                "at n₂ = {percent} %, *{}* against *{}*: {}{same}",
                update.name(),
                again.name(),
                points.join(", ")
            ));
        }
    }
    if told.is_empty() { String::new() } else { format!("In points, {}.", told.join("; ")) }
}

fn against_the_paper(times: &Times) -> String {
    let point = Point { setting: Setting::Small, percent: PERCENT };
    let (batch, word2vec) = (Timed::program(Program::Batch, 1), Timed::program(Program::Word2vec, 1));
    let update = |clock| Timed { program: Program::UpdateIncremental, threads: 1, clock };
    let lines = [(batch, "batch", PAPER_BATCH), (word2vec, "word2vec", PAPER_WORD2VEC)].map(
        |(again, name, paper)| {
            let ratio = |clock| times_faster(times.ratio(point, again, update(clock)));
            format!(
                "against {name} {} as a program and {} live, where the paper has {paper} ×",
                ratio(Clock::Program),
                ratio(Clock::Live)
            )
        },
    );
    let share = (100 + PERCENT) / PERCENT;
    let mut costs = Vec::new();
    for program in UPDATES {
        let live = Timed { program, threads: 1, clock: Clock::Live };
        if let Some(ratio) = times.ratio(point, batch, live) {
            costs.push(format!("{:.2} times for *{}*", f64::from(share) / ratio, program.name()));
        }
    }
    let cost = match costs.as_slice() {
        [] => String::new(),
        costs => format!(
            " By the live times on one thread, learning a word costs, against a word of the whole of *batch*, {}.",
            listed(costs)
        ),
    };
    let of_update = |clock| Timed { program: Program::UpdateMiniBatch, threads: 2, clock };
    let live = times.seconds(point, of_update(Clock::Live));
    let whole = times.seconds(point, of_update(Clock::Program));
    let learning = live.zip(whole).map_or_else(String::new, |(live, whole)| {
        format!(
            " *{}* takes {} s as a program on two threads, and {} s live, without start, load and save.",
            Program::UpdateMiniBatch.name(),
            seconds(Some(whole)),
            seconds(Some(live))
        )
    });
    format!(
        "
### Against the paper

Algorithm 1 by itself, one thread each, n₂ = {PERCENT} %: {}. With the same work a word as *batch* and one of {share} words to
learn, {share} × would be what can be had by not training again.{cost}{learning}
",
        lines.join("; ")
    )
}

fn answers(times: &Times, scores: &[ScoreRow]) -> Vec<Answer> {
    let mut told = Vec::new();
    for setting in [Setting::Small, Setting::Paper] {
        let point = Point { setting, percent: PERCENT };
        for (name, again, paper) in [
            ("our batch", Timed::program(Program::Batch, 1), Some(PAPER_BATCH)),
            ("word2vec.c", Timed::program(Program::Word2vec, 2), Some(PAPER_WORD2VEC)),
            ("word2vec.c at its default of five passes", Timed::program(Program::Word2vecFive, 2), None),
            ("gensim", Timed::program(Program::Gensim, 2), None),
        ] {
            let judged: Vec<String> = [
                (Program::UpdateMiniBatch, Clock::Program, "by mini-batch, the default"),
                (Program::UpdateMiniBatch, Clock::Live, "by mini-batch in a live process"),
                (Program::UpdateNoReplays, Clock::Program, "without replay"),
                (Program::UpdateIncremental, Clock::Program, "by incremental"),
            ]
            .into_iter()
            .filter_map(|(program, clock, how)| {
                let ratio = best_ratio(times, point, again, program, clock)?;
                Some(format!("{} {how}{}", times_faster(Some(ratio)), beside_paper(ratio, paper)))
            })
            .collect();
            if !judged.is_empty() {
                told.push(format!("with {}, against {name}: {}", called(setting), judged.join(", ")));
            }
        }
    }
    let mut answers = vec![
        Answer {
            question: format!(
                "How many times faster is an update than training again, at n₂ = n₁/{}? (Paper: {PAPER_BATCH} × against batch, {PAPER_WORD2VEC} × against word2vec)",
                100 / PERCENT
            ),
            answer: capital(&told.join("; ")) + ".",
        },
        Answer {
            question: format!("Is an update {GOAL} times as fast as training again with the real word2vec?"),
            answer: goal(times),
        },
    ];
    let quality = quality_in_words(scores);
    if !quality.is_empty() {
        let question = "Is a model that was updated as good as one that was trained again?".into();
        answers.push(Answer { question, answer: quality });
    }
    answers
}

/// Whether a ratio is more than that of the paper, where it has one.
fn beside_paper(ratio: f64, paper: Option<f64>) -> String {
    let verdict = |paper| if ratio > paper { "more" } else { "not more" };
    paper.map_or_else(String::new, |paper| format!(" ({} than the paper's {paper} ×)", verdict(paper)))
}

/// Who reaches the goal, and how far the best of the others is from it.
fn goal(times: &Times) -> String {
    let mut reached = Vec::new();
    let mut missed: Option<(f64, String)> = None;
    for setting in [Setting::Small, Setting::Paper] {
        let point = Point { setting, percent: PERCENT };
        for again in times.timed(setting) {
            if !matches!(again.program, Program::Word2vec | Program::Word2vecFive) {
                continue;
            }
            for update in UPDATES {
                for clock in [Clock::Program, Clock::Live] {
                    let Some((update, ratio)) = best_update(times, point, again, update, clock) else {
                        continue;
                    };
                    let passes =
                        if again.program == Program::Word2vecFive { "five passes" } else { "one pass" };
                    let name = format!(
                        "*{}* against {passes} on {}, {} ({})",
                        update.name(),
                        if again.threads == 1 { "1 thread" } else { "2 threads" },
                        called(setting),
                        times_faster(Some(ratio))
                    );
                    if ratio >= GOAL {
                        reached.push(name);
                    } else if missed.as_ref().is_none_or(|(best, _)| ratio > *best) {
                        missed = Some((ratio, name));
                    }
                }
            }
        }
    }
    let yes = match reached.as_slice() {
        [] => "No".into(),
        reached => format!("Yes for {}", listed(reached)),
    };
    match missed {
        Some((_, name)) if reached.is_empty() => format!("{yes}; nearest: {name}."),
        Some((_, name)) => format!("{yes}. Not for the others; nearest: {name}."),
        None => yes + ".",
    }
}

fn called(setting: Setting) -> &'static str {
    match setting {
        Setting::Small => "our defaults",
        Setting::Paper => "the paper's settings",
    }
}

fn seconds(value: Option<f64>) -> String {
    match value {
        None => "–".into(),
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.1}"),
    }
}

fn times_faster(ratio: Option<f64>) -> String {
    match ratio {
        None => "–".into(),
        Some(ratio) if ratio < 10.0 => format!("{ratio:.1} ×"),
        Some(ratio) => format!("{ratio:.0} ×"),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::update_time::TimeRow;

    /// Ten times as long again as a mini-batch, twice as long as an incremental update.
    fn times() -> Times {
        let row = |program, threads, trial, seconds, live_seconds| TimeRow {
            setting: Setting::Small,
            threads,
            percent: PERCENT,
            round: 1,
            trial,
            program,
            n1_words: 3_000_000,
            n2_words: 300_000,
            seconds,
            live_seconds,
        };
        Times {
            rows: vec![
                row(Program::UpdateMiniBatch, 1, 1, 1.0, Some(0.5)),
                row(Program::UpdateMiniBatch, 1, 2, 1.0, Some(0.5)),
                row(Program::UpdateIncremental, 1, 1, 11.0, Some(10.0)),
                row(Program::Batch, 1, 1, 22.0, None),
            ],
        }
    }

    #[test]
    fn each_update_is_judged_by_itself() {
        let answer = &answers(&times(), &[])[0].answer;
        assert!(answer.contains("22 × by mini-batch, the default (more than the paper's 10 ×)"), "{answer}");
        assert!(answer.contains("2.0 × by incremental (not more than the paper's 10 ×)"), "{answer}");
        assert!(!answer.contains("without replay"), "{answer}");
    }

    #[test]
    fn runs_are_counted_and_costs_computed() {
        let body = introduction(&times()) + &against_the_paper(&times());
        assert!(body.contains("| update, mini-batch, 1 thread | 2 |"), "{body}");
        assert!(body.contains("| again, batch, 1 thread | 1 |"), "{body}");
        assert!(body.contains("0.25 times for *update, mini-batch*"), "{body}");
        assert!(body.contains("5.00 times for *update, incremental*"), "{body}");
    }

    #[test]
    fn a_replay_is_told_where_there_is_one() {
        assert!(replay(6_000_000, 1).contains("for each new one"));
        assert!(replay(1_900_000, 200_000).contains("only in large updates"));
        assert!(replay(1_000_000, 500_000).contains("nothing is replayed"));
    }
}
