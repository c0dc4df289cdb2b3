use std::time::Duration;

use skipstream::embeddings::{AnalogyRule, Neighbor};

use super::*;
use crate::error::Error;
use crate::search::pending::MAX_WAITING;
use crate::search::testing::published;
use crate::turns::testing::client;

fn hits(neighbors: &[Neighbor<'_>]) -> Vec<Hit> {
    neighbors.iter().map(|neighbor| (neighbor.row, neighbor.similarity)).collect()
}

#[tokio::test]
async fn answers_are_those_of_the_embeddings() {
    let published = published(500, 20);
    let embeddings = &published.embeddings;
    let mut queries: Vec<Query<'static>> = (0..30).map(|row| Query::neighbors(row, row + 1)).collect();
    queries.push(embeddings.analogy_query([3, 4, 5], 7, AnalogyRule::Add));
    queries.push(embeddings.analogy_query([3, 4, 5], 7, AnalogyRule::Multiply));
    queries.push(Query::nearest(vec![0.25; 20], 4));
    let answers =
        SearchQueue::new(&Lifecycle::default()).search(client(1), &published, queries.clone()).await.unwrap();
    assert_eq!(answers.len(), queries.len());
    for (query, answer) in queries.iter().zip(answers) {
        assert_eq!(answer, hits(&embeddings.search(query).unwrap()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_queries_get_their_own_answers() {
    let queue = Arc::new(SearchQueue::new(&Lifecycle::default()));
    let both = [published(300, 10), published(300, 10)];
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let (queue, published) = (queue.clone(), both[number % 2].clone());
            tokio::spawn(async move {
                let queries = vec![Query::neighbors(number, 3)];
                let answers = queue.search(client(1), &published, queries).await.unwrap();
                let word = published.embeddings.word(number);
                let alone = published.embeddings.neighbors(word, 3).unwrap();
                assert_eq!(answers[0], hits(&alone));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(queue.pending.waiting(), 0);
}

#[tokio::test]
async fn an_invalid_vector_is_rejected() {
    let published = published(5, 3);
    let queue = SearchQueue::new(&Lifecycle::default());
    let refused = queue.search(client(1), &published, vec![Query::nearest(vec![1.0; 2], 1)]).await;
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the query vector has 2 values; the embeddings have 3 dimensions"
    );
    let refused = queue.search(client(1), &published, vec![Query::nearest(vec![f32::NAN; 3], 1)]).await;
    assert_eq!(refused.unwrap_err().to_string(), "value 1 of the query vector is NaN; it must be finite");
    assert!(queue.search(client(1), &published, Vec::new()).await.unwrap().is_empty());
}

#[tokio::test]
async fn more_queries_than_the_queue_holds_are_rejected() {
    let published = published(5, 3);
    let queries = vec![Query::neighbors(1, 1); MAX_WAITING + 1];
    let refused = SearchQueue::new(&Lifecycle::default()).search(client(1), &published, queries).await;
    assert!(matches!(refused, Err(Error::Busy { waiting: 0, limit: MAX_WAITING })));
}

#[tokio::test]
async fn a_queue_whose_thread_has_ended_rejects() {
    let published = published(5, 3);
    let lifecycle = Lifecycle::default();
    let queue = SearchQueue::new(&lifecycle);
    lifecycle.kill(SEARCH);
    for _ in 0..2 {
        let refused = queue.search(client(1), &published, vec![Query::neighbors(1, 1)]).await.unwrap_err();
        assert!(refused.to_string().contains("the thread `search` has ended"), "{refused}");
    }
    // The thread rejects queries first, and is then known to have ended.
    while lifecycle.problem().is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    lifecycle.stop();
    let refused = queue.search(client(1), &published, vec![Query::neighbors(1, 1)]).await;
    assert!(matches!(refused, Err(Error::Stopping)));
}

#[tokio::test]
async fn no_words_have_no_neighbors() {
    let published = published(0, 3);
    let answers = SearchQueue::new(&Lifecycle::default())
        .search(client(1), &published, vec![Query::nearest(vec![1.0; 3], 5)])
        .await;
    assert_eq!(answers.unwrap(), [Vec::new()]);
}
