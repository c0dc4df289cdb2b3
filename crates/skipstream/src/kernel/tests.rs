//! Kernels against the scalar definition, against each other, and gradients against finite differences.

mod scalar;

use super::*;
use crate::parameters::LANES;
use crate::random::Random;

const ROWS: usize = 40;

/// A block's worth of memory.
#[derive(Clone, PartialEq, Debug)]
struct Memory {
    rows: Vec<Lanes>,
    accumulators: Vec<f32>,
    lanes_per_row: usize,
}

impl Memory {
    /// Random rows of these dimensions; the padding is zero.
    fn random(dimensions: usize, random: &mut Random) -> Memory {
        let lanes_per_row = dimensions.div_ceil(LANES);
        let mut rows = vec![[0.0; LANES]; ROWS * lanes_per_row];
        for row in rows.chunks_mut(lanes_per_row) {
            for value in &mut row.as_flattened_mut()[..dimensions] {
                *value = (random.uniform() - 0.5) as f32;
            }
        }
        let accumulators = (0..ROWS).map(|_| random.uniform() as f32 * 0.1).collect();
        Memory { rows, accumulators, lanes_per_row }
    }

    fn block(&mut self) -> Block<'_> {
        Block {
            rows: &mut self.rows,
            accumulators: &mut self.accumulators,
            lanes_per_row: self.lanes_per_row,
        }
    }

    fn row(&self, row: usize, dimensions: usize) -> Vec<f64> {
        let lanes = &self.rows[row * self.lanes_per_row..][..self.lanes_per_row];
        lanes.as_flattened()[..dimensions].iter().map(|&value| f64::from(value)).collect()
    }
}

fn random_group(runs: usize, negatives: usize, random: &mut Random) -> Group {
    let mut group = Group::default();
    for _ in 0..runs {
        for _ in 0..1 + random.below(RUN_LENGTH) {
            group.contexts.push(random.below(ROWS) as u32);
        }
        group.targets.push(random.below(ROWS) as u32);
        group.ends.push(group.contexts.len() as u32);
    }
    group.negatives.extend((0..negatives).map(|_| random.below(ROWS) as u32));
    group
}

/// All of these sizes, or two of them with Miri, which is a thousand times slower.
fn some<T>(sizes: &[T]) -> &[T] {
    if cfg!(miri) { &sizes[..2] } else { sizes }
}

fn settings(dimensions: usize, negatives: usize) -> GroupSettings {
    GroupSettings { dimensions, learning_rate: 0.2, negative_weight: 5.0 / negatives as f32 }
}

/// Odd dimensions, partial groups, words that are negatives and contexts at once: all kernels give the same bits.
#[test]
fn all_instruction_sets_train_groups_to_the_same_bits() {
    let mut random = Random::new(1);
    for &dimensions in some(&[17, 3, 1, 16, 50, 100, 128, 300]) {
        for &(runs, negatives) in some(&[(1, 8), (5, 24), (RUNS, 32), (RUNS, 200)]) {
            let targets = Memory::random(dimensions, &mut random);
            let contexts = Memory::random(dimensions, &mut random);
            let group = random_group(runs, negatives, &mut random);
            let mut results = Kernel::available().into_iter().map(|kernel| {
                let (mut targets, mut contexts) = (targets.clone(), contexts.clone());
                let loss = kernel.train_group(
                    &group,
                    settings(dimensions, negatives),
                    &mut targets.block(),
                    &mut contexts.block(),
                    &mut GroupScratch::default(),
                );
                (loss, targets, contexts)
            });
            let portable = results.next().unwrap();
            assert_ne!(portable.1, targets);
            for other in results {
                assert_eq!(other, portable, "{dimensions} dimensions, {runs} runs, {negatives} negatives");
            }
        }
    }
}

#[test]
fn a_kernel_is_found_by_its_name() {
    for kernel in Kernel::available() {
        assert_eq!(Kernel::named(kernel.name()).unwrap().name(), kernel.name());
    }
    let names: Vec<_> = Kernel::available().iter().map(|kernel| kernel.name()).collect();
    let error = Kernel::named("sse9").unwrap_err().to_string();
    let expected =
        format!("SKIPSTREAM_INSTRUCTIONS is sse9; it must be one of {} on this machine", names.join(", "));
    assert_eq!(error, expected);
}

/// The group's update as its documentation says it, in f64, value by value.
fn train_group_slowly(
    group: &Group,
    settings: GroupSettings,
    targets: &mut Memory,
    contexts: &mut Memory,
) -> f64 {
    let dimensions = settings.dimensions;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let old_targets: Vec<_> =
        group.targets.iter().map(|&row| targets.row(row as usize, dimensions)).collect();
    let old_negatives: Vec<_> =
        group.negatives.iter().map(|&row| contexts.row(row as usize, dimensions)).collect();
    let old_contexts: Vec<_> =
        group.contexts.iter().map(|&row| contexts.row(row as usize, dimensions)).collect();
    let mut loss = 0.0;
    let mut target_gradients = vec![vec![0.0; dimensions]; group.targets.len()];
    let mut negative_gradients = vec![vec![0.0; dimensions]; group.negatives.len()];
    for (run, target) in old_targets.iter().enumerate() {
        for (j, negative) in old_negatives.iter().enumerate() {
            let own = group.run(run).filter(|&pair| group.contexts[pair] != group.negatives[j]).count();
            let weight = own as f64 * f64::from(settings.negative_weight);
            let logit = dot(target, negative);
            loss += weight * (1.0 + logit.exp()).ln();
            let slope = weight * sigmoid(logit);
            for d in 0..dimensions {
                target_gradients[run][d] += slope * negative[d];
                negative_gradients[j][d] += slope * target[d];
            }
        }
    }
    let update = |memory: &mut Memory, row: u32, gradient: &[f64]| {
        let row = row as usize;
        let square = dot(gradient, gradient) / dimensions as f64;
        memory.accumulators[row] += square as f32;
        let rate = f64::from(settings.learning_rate) / f64::from(memory.accumulators[row]).sqrt();
        let start = row * memory.lanes_per_row;
        for (value, gradient) in memory.rows[start..].as_flattened_mut().iter_mut().zip(gradient) {
            *value = (f64::from(*value) - rate * gradient) as f32;
        }
    };
    for (run, target) in old_targets.iter().enumerate() {
        for pair in group.run(run) {
            let logit = dot(target, &old_contexts[pair]);
            loss += (1.0 + (-logit).exp()).ln();
            let slope = sigmoid(logit) - 1.0;
            // As it is by now: another pair of the group may have moved it.
            let context = contexts.row(group.contexts[pair] as usize, dimensions);
            for d in 0..dimensions {
                target_gradients[run][d] += slope * context[d];
            }
            let gradient: Vec<f64> = target.iter().map(|t| slope * t).collect();
            update(contexts, group.contexts[pair], &gradient);
        }
    }
    for (&row, gradient) in group.negatives.iter().zip(&negative_gradients) {
        update(contexts, row, gradient);
    }
    for (&row, gradient) in group.targets.iter().zip(&target_gradients) {
        update(targets, row, gradient);
    }
    loss
}

#[test]
fn groups_are_trained_as_documented() {
    let mut random = Random::new(2);
    for &dimensions in some(&[7, 32, 1, 100]) {
        for &(runs, negatives) in some(&[(1, 8), (9, 136), (RUNS, 32)]) {
            let mut targets = Memory::random(dimensions, &mut random);
            let mut contexts = Memory::random(dimensions, &mut random);
            let (mut slow_targets, mut slow_contexts) = (targets.clone(), contexts.clone());
            let group = random_group(runs, negatives, &mut random);
            let settings = settings(dimensions, negatives);
            let loss = Kernel::best().train_group(
                &group,
                settings,
                &mut targets.block(),
                &mut contexts.block(),
                &mut GroupScratch::default(),
            );
            let slow = train_group_slowly(&group, settings, &mut slow_targets, &mut slow_contexts);
            assert!((loss - slow).abs() < 1e-5 * slow, "loss {loss}, slowly {slow}");
            for (fast, slow) in [(targets, slow_targets), (contexts, slow_contexts)] {
                let pairs = fast.rows.as_flattened().iter().zip(slow.rows.as_flattened());
                for (fast, slow) in pairs.chain(fast.accumulators.iter().zip(&slow.accumulators)) {
                    assert!((fast - slow).abs() < 2e-4 * (1.0 + slow.abs()), "{fast}, slowly {slow}");
                }
            }
        }
    }
}

fn optimizer(dimensions: usize) -> Optimizer {
    Optimizer { learning_rate: 0.1, dimensions }
}

fn lanes(values: &[f32]) -> Vec<Lanes> {
    let mut lanes = vec![[0.0; LANES]; values.len().div_ceil(LANES)];
    lanes.as_flattened_mut()[..values.len()].copy_from_slice(values);
    lanes
}

fn state<'a>(kind: usize, sums: &'a mut [Lanes], sum: &'a mut f32) -> State<'a> {
    match kind {
        0 => State::Dimension(sums),
        1 => State::Row(sum),
        _ => State::None,
    }
}

#[test]
fn pairs_are_trained_as_the_scalar_definition_says() {
    let mut random = Random::new(3);
    for &dimensions in some(&[33, 5, 1, 16, 100]) {
        let mut values = |scale: f64| -> Vec<f32> {
            (0..dimensions).map(|_| ((random.uniform() - 0.5) * scale) as f32).collect()
        };
        let (target, context, gradient) = (values(2.0), values(2.0), values(0.1));
        let sums: Vec<f32> = values(1.0).iter().map(|value| value.abs()).collect();
        for positive in [true, false] {
            for kind in 0..3 {
                let mut expected = (context.clone(), gradient.clone(), lanes(&sums), 0.3f32);
                let optimizer = optimizer(dimensions);
                let expected_loss = scalar::train_context(
                    optimizer,
                    positive,
                    &target,
                    &mut expected.0,
                    state(kind, &mut expected.2, &mut expected.3),
                    &mut expected.1,
                );
                let mut all = Vec::new();
                for kernel in Kernel::available() {
                    let mut got = (lanes(&context), lanes(&gradient), lanes(&sums), 0.3f32);
                    let loss = kernel.train_context(
                        optimizer,
                        positive,
                        &lanes(&target),
                        &mut got.0,
                        state(kind, &mut got.2, &mut got.3),
                        &mut got.1,
                    );
                    assert!((loss - expected_loss).abs() < 1e-5);
                    for (got, expected) in [(&got.0, &expected.0), (&got.1, &expected.1)] {
                        for (got, expected) in got.as_flattened().iter().zip(expected) {
                            assert!(
                                (got - expected).abs() < 1e-5,
                                "{} {kind}: {got}, {expected}",
                                kernel.name()
                            );
                        }
                        assert!(got.as_flattened()[dimensions..].iter().all(|&padding| padding == 0.0));
                    }
                    assert!((got.3 - expected.3).abs() < 1e-6);
                    all.push((loss, got));
                }
                assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "the kernels differ in bits");
            }
        }
    }
}

/// ∂L/∂t and ∂L/∂c of one label, from plain gradient steps of rate 1, against central differences of the loss.
#[test]
fn gradients_agree_with_finite_differences() {
    let mut random = Random::new(4);
    let dimensions = 20;
    let mut values =
        || -> Vec<f32> { (0..dimensions).map(|_| (random.uniform() - 0.5) as f32 * 2.0).collect() };
    let (target, context) = (values(), values());
    let plain = Optimizer { learning_rate: 1.0, dimensions };
    for positive in [true, false] {
        let loss = |target: &[f32], context: &[f32]| {
            let dot: f64 = target.iter().zip(context).map(|(t, c)| f64::from(*t) * f64::from(*c)).sum();
            (1.0 + (if positive { -dot } else { dot }).exp()).ln()
        };
        let mut moved = lanes(&context);
        let mut gradient = lanes(&vec![0.0; dimensions]);
        Kernel::best().train_context(
            plain,
            positive,
            &lanes(&target),
            &mut moved,
            State::None,
            &mut gradient,
        );
        for d in 0..dimensions {
            let step = 1e-2f32;
            let difference = |which: usize| {
                let nudged = |sign: f32| {
                    let (mut t, mut c) = (target.clone(), context.clone());
                    [&mut t, &mut c][which][d] += sign * step;
                    loss(&t, &c)
                };
                (nudged(1.0) - nudged(-1.0)) / f64::from(2.0 * step)
            };
            let by_target = f64::from(gradient.as_flattened()[d]);
            let by_context = f64::from(context[d] - moved.as_flattened()[d]);
            assert!((by_target - difference(0)).abs() < 1e-4, "{by_target} {}", difference(0));
            assert!((by_context - difference(1)).abs() < 1e-4, "{by_context} {}", difference(1));
        }
    }
}

#[test]
fn rows_without_a_gradient_stay_finite() {
    let zeros = || lanes(&[0.0; 20]);
    let mut random = Random::new(5);
    for kernel in Kernel::available() {
        let (mut context, mut gradient, mut sums) = (zeros(), zeros(), zeros());
        kernel.train_context(
            optimizer(20),
            true,
            &zeros(),
            &mut context,
            State::Dimension(&mut sums),
            &mut gradient,
        );
        assert_eq!(context, zeros());
        let mut memory = Memory::random(20, &mut random);
        memory.rows.fill([0.0; LANES]);
        memory.accumulators.fill(0.0);
        let mut others = memory.clone();
        let group = random_group(RUNS, 8, &mut random);
        let scratch = &mut GroupScratch::default();
        kernel.train_group(&group, settings(20, 8), &mut memory.block(), &mut others.block(), scratch);
        assert!(memory.rows.iter().chain(&others.rows).flatten().all(|value| value.is_finite()));
    }
}

#[test]
fn all_instruction_sets_compare_rows_to_the_same_bits() {
    let mut random = Random::new(3);
    let mut values = |n: usize| -> Vec<f32> { (0..n).map(|_| random.uniform() as f32 - 0.5).collect() };
    for &dimensions in some(&[17, 3, 1, 15, 16, 50, 100, 300]) {
        let (vector, rows) = (values(dimensions), values(ROWS * dimensions));
        let mut results = Kernel::available().into_iter().map(|kernel| {
            let (mut dots, mut squares) = ([0.0; ROWS], [0.0; ROWS]);
            kernel.dots(&vector, &rows, &mut dots);
            kernel.squares(dimensions, &rows, &mut squares);
            (dots, squares)
        });
        let portable = results.next().unwrap();
        for (row, values) in rows.chunks(dimensions).enumerate() {
            let dot = |other: &[f32]| -> f64 {
                values.iter().zip(other).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
            };
            assert!((f64::from(portable.0[row]) - dot(&vector)).abs() < 1e-5);
            assert!((f64::from(portable.1[row]) - dot(values)).abs() < 1e-5);
        }
        for other in results {
            assert_eq!(other, portable, "{dimensions} dimensions");
        }
    }
}

#[test]
fn all_instruction_sets_multiply_integers_exactly() {
    let mut random = Random::new(4);
    for &dimensions in some(&[17, 3, 1, 15, 16, 32, 50, 100, 300, 70_000]) {
        let limit = Integers::limit(dimensions);
        let most = 2 * limit as usize + 1;
        let mut integers: Vec<i16> =
            (0..dimensions).map(|_| (random.below(most) as i32 - i32::from(limit)) as i16).collect();
        let mut rows: Vec<i8> = (0..5 * dimensions).map(|_| random.below(256) as u8 as i8).collect();
        // The largest sum that is possible.
        rows[..dimensions].fill(-128);
        for extreme in [false, true] {
            if extreme {
                integers.fill(-limit);
            }
            let product = |(&a, &b): (&i16, &i8)| i64::from(a) * i64::from(b);
            let expected: Vec<i64> =
                rows.chunks(dimensions).map(|row| integers.iter().zip(row).map(product).sum()).collect();
            for kernel in Kernel::available() {
                let mut dots = [0; 5];
                kernel.integer_dots(&Integers::new(&integers), &rows, &mut dots);
                assert_eq!(dots.map(i64::from), *expected, "{dimensions} dimensions, {}", kernel.name());
            }
        }
    }
}

#[test]
#[should_panic = "integers within 5461"]
fn integers_whose_products_could_overflow_are_our_mistake() {
    Integers::new(&vec![5_462; 3_072]);
}

#[test]
fn all_instruction_sets_widen_every_number_of_half_precision() {
    let halves: Vec<u16> = (0..=u16::MAX).collect();
    let expected: Vec<f32> = halves.iter().map(|&bits| half::f16::from_bits(bits).to_f32()).collect();
    for kernel in Kernel::available() {
        for length in some(&[17, 5, 0, 1 << 16]) {
            let mut floats = vec![0.0; *length];
            kernel.widen(&halves[..*length], &mut floats);
            for (found, expected) in floats.iter().zip(&expected) {
                assert_eq!(found.to_bits(), expected.to_bits(), "{expected} with {}", kernel.name());
            }
        }
    }
}
