//! Words that rise.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Moment, resolve};
use crate::change::{self, Emerging, Since, SnapshotName};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{SnapshotInfo, compute};
use crate::http::extract::{Number, Parameters};
use crate::service::Service;

// Names, because the macro that writes the schema does not see through numbers among the types' parameters.
type Words = Number<1, 1000>;
type Occurrences = Number<1, 1_000_000_000>;

/// Which words are wanted
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// A duration (`90m`, `24h`, `7d`), a time (RFC 3339) or the name of a kept snapshot; `24h` by default
    #[param(inline)]
    since: Option<Since>,
    /// How many words; 20 by default
    #[param(inline)]
    n: Option<Words>,
    /// They were seen at least so often since; 5 by default
    #[param(inline)]
    min_count: Option<Occurrences>,
}

/// Words that rise
#[derive(Debug, Serialize, ToSchema)]
pub struct Rising {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// The moment with which it was compared
    pub since: Moment,
    /// The words, the clearest first
    pub words: Vec<Emerging>,
}

/// New words, and words that became more frequent
///
/// What is published is held against the last snapshot that was kept before the moment, or else the oldest. The score is
/// Dunning's log-likelihood ratio: with k1 of n1 words since and k2 of n2 before, and p = (k1 + k2) / (n1 + n2), it is
/// 2 (k1 ln(k1 / n1 / p) + (n1 - k1) ln((1 - k1 / n1) / (1 - p)) + the same of k2 and n2). New words are listed, and others
/// with a score of at least 24 whose share rose. Where no snapshot was kept, words that came since are listed by their
/// counts.
#[utoipa::path(
    get, path = "/v1/emerging", tag = "change", params(Which),
    responses((status = 200, body = Rising), (status = 404, description = "There is no kept snapshot of this name")),
    security(("token" = ["read"]))
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    Parameters(Which { since, n, min_count }): Parameters<Which>,
) -> Result<Json<Rising>, ApiError> {
    compute(move || {
        let published = service.published();
        let (time, info) = resolve(&service, since)?;
        // A snapshot that is damaged, or was deleted meanwhile, is none.
        let kept = info.and_then(|info| {
            let embeddings = service.kept.embeddings(&SnapshotName::new(&info.name)?)?;
            Some((info, embeddings))
        });
        let before = kept.as_ref().map(|(info, embeddings)| (info, embeddings));
        let min_count = min_count.map_or(5, |number| number.get() as u64);
        let words = change::emerging(&published, time, before, min_count, n.map_or(20, Words::get));
        let since = match kept {
            Some((info, _)) => Moment { name: Some(info.name), time: info.time },
            None => Moment { name: None, time },
        };
        Ok(Json(Rising { snapshot: (&*published).into(), since, words }))
    })
    .await
}
