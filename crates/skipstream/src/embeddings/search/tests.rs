use proptest::prelude::*;

use super::*;
use crate::embeddings::testing::random_embeddings;
use crate::random::Random;

fn to_the_end(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The definition of a search: every row is scored and sorted.
fn naive(embeddings: &Embeddings, query: &Query<'_>) -> Vec<Candidate> {
    let vector = |term: &Term<'_>| match term {
        Term::Row(row) => embeddings.vector_at(*row).into_owned(),
        Term::Vector(vector) => vector.to_vec(),
    };
    let cosine = |term: &Term<'_>, row| {
        let (vector, other) = (vector(term), embeddings.vector_at(row));
        match super::super::cosines(&vector, &other)[0] {
            cosine if query.combine != Combine::Dot || cosine == 0.0 => cosine,
            _ => Kernel::best().dot(&vector, &other),
        }
    };
    let score = |row: usize| {
        let [positive, negative] =
            [&query.positive, &query.negative].map(|terms| terms.iter().map(|term| cosine(term, row)));
        let shifted = |cosine: f32| (1.0 + cosine) / 2.0;
        match query.combine {
            Combine::Add | Combine::Dot => {
                negative.fold(positive.fold(0.0, |sum, cosine| sum + cosine), |sum, cosine| sum - cosine)
            }
            Combine::Multiply { epsilon } => {
                positive.map(shifted).product::<f32>() / (negative.map(shifted).product::<f32>() + epsilon)
            }
        }
    };
    let mut all: Vec<Candidate> = (0..embeddings.len())
        .filter(|row| query.rows.contains(row) && !query.exclude.contains(row))
        .map(|row| Candidate { similarity: score(row), row })
        .collect();
    all.sort_by(|left, right| right.cmp(left));
    all.truncate(query.n);
    all
}

fn uniform_embeddings(n_words: usize, dimensions: usize, random: &mut Random) -> Embeddings {
    let values = (0..n_words * dimensions).map(|_| random.uniform() as f32 - 0.5).collect();
    Embeddings::uncounted(dimensions, (0..n_words).map(|row| row.to_string()), values).unwrap()
}

/// Some query about random rows and vectors.
fn some_query(random: &mut Random, n_words: usize, dimensions: usize) -> Query<'static> {
    let term = |random: &mut Random| match random.below(4) {
        0 => Term::from((0..dimensions).map(|_| random.uniform() as f32 - 0.5).collect::<Vec<f32>>()),
        _ => Term::Row(random.below(n_words)),
    };
    let [n_positive, n_negative] = [(1, 0), (2, 1), (3, 2)][random.below(3)].into();
    let mut query = Query::nearest(term(random), random.below(40));
    query.positive.extend((1..n_positive).map(|_| term(random)));
    query.negative.extend((0..n_negative).map(|_| term(random)));
    match random.below(4) {
        0 => query.combine = Combine::Multiply { epsilon: 0.001 },
        1 => query.combine = Combine::Dot,
        _ => {}
    }
    if random.below(3) == 0 {
        query.rows = random.below(n_words)..random.below(2 * n_words);
    }
    query.excluding((0..random.below(4)).map(|_| random.below(n_words)).collect::<Vec<usize>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn answers_are_those_of_a_full_sort_for_any_threads_and_company(
        n_words in prop_oneof![1usize..20, 250usize..260, 500usize..800],
        dimensions in 1usize..40,
        n_queries in 0usize..20,
        threads in 1usize..5,
        quantization in proptest::option::of(prop_oneof![Just(Quantization::F16), Just(Quantization::Int8)]),
        has_ties in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed);
        let mut embeddings = match has_ties {
            true => random_embeddings(n_words, dimensions),
            false => uniform_embeddings(n_words, dimensions, &mut random),
        };
        if let Some(quantization) = quantization {
            embeddings = embeddings.quantized(quantization).unwrap();
        }
        let queries: Vec<Query<'_>> =
            (0..n_queries).map(|_| some_query(&mut random, n_words, dimensions)).collect();
        let expected: Vec<Vec<Candidate>> =
            queries.iter().map(|query| naive(&embeddings, query)).collect();
        prop_assert_eq!(&find_best(&embeddings, queries.iter().cloned(), threads, &to_the_end).unwrap(), &expected);
        for (query, expected) in queries.into_iter().zip(expected) {
            prop_assert_eq!(find_best(&embeddings, [query].into_iter(), 1, &to_the_end).unwrap(), [expected]);
        }
    }
}

/// Rows that are almost alike, so that estimates do not tell them apart.
#[test]
fn estimates_lose_no_answer_among_rows_that_are_alike() {
    for dimensions in [1, 3, 16, 100, 2_000] {
        let mut random = Random::new(5);
        let middle: Vec<f32> = (0..dimensions).map(|_| random.uniform() as f32 - 0.5).collect();
        let mut near = |width: f32| {
            middle.iter().map(|&value| value + width * (random.uniform() as f32 - 0.5)).collect::<Vec<f32>>()
        };
        let n_words = 600;
        let values = (0..n_words).flat_map(|row| near([1e-3, 1e-2, 1e-1][row % 3])).collect();
        let words = (0..n_words).map(|row| row.to_string());
        let embeddings = Embeddings::uncounted(dimensions, words, values).unwrap();
        let embeddings = embeddings.quantized(Quantization::Int8).unwrap();
        for _ in 0..20 {
            let mut query = Query::nearest(near(1e-3), 20);
            assert_eq!(
                find_best(&embeddings, [query.clone()].into_iter(), 2, &to_the_end).unwrap(),
                [naive(&embeddings, &query)]
            );
            query.positive.push(near(0.1).into());
            query.negative.push(near(0.1).into());
            let pass = Pass::new(&embeddings, &mut [query.clone()].into_iter().peekable());
            assert!(pass.estimates.is_some());
            assert_eq!(
                find_best(&embeddings, [query.clone()].into_iter(), 2, &to_the_end).unwrap(),
                [naive(&embeddings, &query)]
            );
        }
    }
}

#[test]
fn rows_and_cues_of_any_length_are_compared() {
    let n_words = 400;
    for [short, long] in [[1e-2, 1e2], [1e-20, 1e20], [1e-42, 8e37]] {
        let values = (0..n_words).flat_map(|row| match row % 4 {
            0 => [0.0, 0.0],
            1 => [short, short],
            2 => [long, -long],
            _ => [-1.0, -1e-3],
        });
        let words = (0..n_words).map(|row| row.to_string());
        let full = Embeddings::uncounted(2, words, values.collect()).unwrap();
        for embeddings in [full.clone(), full.quantized(Quantization::Int8).unwrap()] {
            for cue in [[1.0, 0.0], [0.0, 0.0], [1e-30, 0.0], [1e30, 1.0], [8e37, -8e37], [-1.0, 1e-3]] {
                let query = Query::nearest(cue.to_vec(), 20);
                let found = find_best(&embeddings, [query.clone()].into_iter(), 1, &to_the_end).unwrap();
                assert_eq!(found, [naive(&embeddings, &query)]);
            }
        }
        let nearest = &full.neighbors("2", 1).unwrap()[0];
        assert_eq!((nearest.word, nearest.similarity), ("6", 1.0));
        assert_eq!(full.similarity("1", "1").unwrap(), 1.0);
        let unit = full.unit_vector(1);
        assert!((unit[0] - 0.5f32.sqrt()).abs() < 1e-6 && unit[0] == unit[1], "{unit:?}");
    }
}

/// Few rows must be compared exactly, or estimates would not be faster.
#[test]
fn estimates_are_close() {
    let mut random = Random::new(6);
    for (dimensions, most) in [(100, 6e-5), (300, 6e-5), (1_000, 2e-4)] {
        let cue: Vec<f32> = (0..dimensions).map(|_| random.uniform() as f32 - 0.5).collect();
        let inverse_norm = inverse_norm(Kernel::best().dot(&cue, &cue));
        let error = Estimator::new(&cue, inverse_norm).error;
        assert!(error < most, "{error} with {dimensions} dimensions");
    }
}

#[test]
fn more_cues_than_a_pass_has_are_searched_in_several() {
    let embeddings = random_embeddings(30, 3);
    let mut random = Random::new(1);
    let queries: Vec<Query<'_>> = (0..MAX_CUES).map(|_| some_query(&mut random, 30, 3)).collect();
    let expected: Vec<Vec<Candidate>> = queries.iter().map(|query| naive(&embeddings, query)).collect();
    assert_eq!(find_best(&embeddings, queries.into_iter(), 2, &to_the_end).unwrap(), expected);
}

#[test]
fn every_instruction_set_gives_the_same_answers() {
    let mut random = Random::new(2);
    let embeddings = uniform_embeddings(700, 37, &mut random);
    same_answers(&embeddings, &mut random);
    for quantization in Quantization::ALL {
        same_answers(&embeddings.quantized(quantization).unwrap(), &mut random);
    }
}

fn same_answers(embeddings: &Embeddings, random: &mut Random) {
    let queries: Vec<Query<'_>> = (0..50).map(|_| some_query(random, 700, 37)).collect();
    let sums: Vec<Query<'_>> =
        queries.iter().filter(|query| query.combine == Combine::Add).cloned().collect();
    let answers = |kernel: Kernel, queries: &[Query<'_>]| -> Vec<Vec<(usize, u32)>> {
        let pass = Pass::new(embeddings, &mut queries.iter().cloned().peekable());
        let bits = |found: Candidate| (found.row, found.similarity.to_bits());
        let best = pass.run(kernel, 1, &to_the_end).unwrap();
        best.into_iter().map(|best| best.into_sorted().into_iter().map(bits).collect()).collect()
    };
    let kernels = Kernel::available();
    for &kernel in &kernels {
        for queries in [&queries, &sums] {
            assert_eq!(answers(kernel, queries), answers(kernels[0], queries), "{}", kernel.name());
        }
    }
}

#[test]
fn equal_scores_go_to_the_first_rows_for_any_number_of_threads() {
    let words = (0..200_000u64).map(|row| (row.to_string(), 200_000 - row));
    let embeddings = Embeddings::new(6, words, vec![1.0; 6 * 200_000]).unwrap();
    for threads in [1, 2, 3, 100] {
        let query = Query::nearest(Term::Row(7), 3).excluding([0, 7]);
        let found = find_best(&embeddings, [query].into_iter(), threads, &to_the_end).unwrap().concat();
        assert!(found.iter().map(|found| found.row).eq([1, 2, 3]));
    }
}

#[test]
fn progress_grows_to_the_whole() {
    let seen = std::sync::Mutex::new(Vec::new());
    let embeddings = random_embeddings(2 * BLOCK, 1);
    let queries = vec![Query::nearest(Term::Row(0), 1); WORK_PER_SHARE / BLOCK];
    let observe = |share| {
        seen.lock().unwrap().push(share);
        ControlFlow::Continue(())
    };
    find_best(&embeddings, queries.into_iter(), 1, &observe).unwrap();
    assert_eq!(seen.into_inner().unwrap(), [0.5, 1.0]);
}

#[test]
fn a_search_ends_when_the_observer_says_so() {
    let embeddings = random_embeddings(8 * BLOCK, 1);
    let calls = AtomicUsize::new(0);
    let observe = |_| {
        calls.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(())
    };
    let queries = vec![Query::nearest(Term::Row(0), 1); WORK_PER_SHARE / BLOCK];
    for threads in [1, 3] {
        calls.store(0, Ordering::Relaxed);
        assert!(find_best(&embeddings, queries.clone().into_iter(), threads, &observe).is_none());
        // Each thread finishes the block that it has begun.
        assert!(calls.load(Ordering::Relaxed) <= threads);
    }
}
