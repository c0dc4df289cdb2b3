use skipstream::embeddings::AnalogyRule;

use super::*;
use crate::search::testing::published;

/// Rows and similarities as words, as the embeddings would give them.
fn words(published: &Published, found: &[Found]) -> Vec<(String, f32)> {
    let word = |found: &Found| (published.embeddings.word(found.row).to_owned(), found.similarity);
    found.iter().map(word).collect()
}

fn expected(neighbors: &[embeddings::Neighbor<'_>]) -> Vec<(String, f32)> {
    neighbors.iter().map(|neighbor| (neighbor.word.to_owned(), neighbor.similarity)).collect()
}

#[tokio::test]
async fn answers_are_those_of_the_embeddings() {
    let published = published(500, 20);
    let desk = Desk::default();
    for _ in 0..2 {
        // The second time, some are remembered.
        let mut questions: Vec<Question> =
            (0..30).map(|row| Question::about_row(&published, row, row + 1)).collect();
        questions.push(Question::analogy(&published, [3, 4, 5], 7));
        questions.push(Question::about_vector(vec![0.25; 20], 4));
        let answers = desk.ask(&published, questions).await.unwrap();
        assert_eq!(answers.len(), 32);
        for (row, answer) in answers[..30].iter().enumerate() {
            let alone = published.embeddings.neighbors(published.embeddings.word(row), row + 1).unwrap();
            assert_eq!(words(&published, answer), expected(&alone));
        }
        let [a, b, c] = [3, 4, 5].map(|row| published.embeddings.word(row));
        let analogy = published.embeddings.analogy(a, b, c, 7, AnalogyRule::Add).unwrap();
        assert_eq!(words(&published, &answers[30]), expected(&analogy));
        let nearest = published.embeddings.neighbors_of_vector(&[0.25; 20], 4, &[]).unwrap();
        assert_eq!(words(&published, &answers[31]), expected(&nearest));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_ask_at_once_all_get_their_own_answers() {
    let desk = Arc::new(Desk::default());
    let both = [published(300, 10), published(300, 10)];
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let (desk, published) = (desk.clone(), both[number % 2].clone());
            tokio::spawn(async move {
                let questions = vec![Question::about_row(&published, number, 3)];
                let answers = desk.ask(&published, questions).await.unwrap();
                let word = published.embeddings.word(number);
                let alone = published.embeddings.neighbors(word, 3).unwrap();
                assert_eq!(words(&published, &answers[0]), expected(&alone));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(desk.waiting(), 0);
}

#[tokio::test]
async fn a_vector_that_does_not_fit_is_refused_alone() {
    let published = published(5, 3);
    let desk = Desk::default();
    let refused = desk.ask(&published, vec![Question::about_vector(vec![1.0; 2], 1)]).await;
    assert_eq!(refused.unwrap_err().to_string(), "the vector has 2 values; the embeddings have 3 dimensions");
    let refused = desk.ask(&published, vec![Question::about_vector(vec![f32::NAN; 3], 1)]).await;
    assert_eq!(refused.unwrap_err().to_string(), "value 1 of the vector is NaN; it must be finite");
    assert!(desk.ask(&published, Vec::new()).await.unwrap().is_empty());
}

#[tokio::test]
async fn more_questions_than_may_wait_are_refused() {
    let published = published(5, 3);
    let desk = Desk::with_limit(4);
    let questions = (0..5).map(|row| Question::about_row(&published, row, 1)).collect();
    assert!(matches!(desk.ask(&published, questions).await, Err(Error::Busy { waiting: 0, limit: 4 })));
}

#[tokio::test]
async fn a_desk_that_was_closed_refuses() {
    let published = published(5, 3);
    let desk = Desk::default();
    desk.queue.close();
    let refused = desk.ask(&published, vec![Question::about_row(&published, 1, 1)]).await;
    assert!(matches!(refused, Err(Error::Stopping)));
}

#[tokio::test]
async fn no_words_have_no_neighbors() {
    let published = published(0, 3);
    let answers = Desk::default().ask(&published, vec![Question::about_vector(vec![1.0; 3], 5)]).await;
    assert_eq!(answers.unwrap(), [Vec::new()]);
}
