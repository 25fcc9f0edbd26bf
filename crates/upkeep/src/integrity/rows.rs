//! Checks of the metadata store.

use std::collections::HashSet;

use storage::{CheckedRows, RuleRow, StoreRule, Violation};

use super::{Audit, BATCH, FindingKind, IntegrityError, describe};

/// How many messages of the metadata store about damage are reported.
const MAX_MESSAGES: u32 = 100;

/// How many rows one write repairs, so that other writes wait only briefly.
const REPAIR_BATCH: usize = 50;

fn kind_of(rule: StoreRule) -> FindingKind {
    match rule {
        StoreRule::OriginalIsKept | StoreRule::PartialOriginalIsKept | StoreRule::RenditionsAreKept => {
            FindingKind::UnregisteredBlob
        }
        StoreRule::RenditionsExist | StoreRule::RenditionsExistOrQueued => FindingKind::MissingRendition,
        StoreRule::PendingImageHasJob => FindingKind::StuckImage,
        StoreRule::ImageCount => FindingKind::ImageCount,
        StoreRule::TimelineMonths => FindingKind::Timeline,
        StoreRule::StoredBytes => FindingKind::StoredBytes,
        StoreRule::RootFolder => FindingKind::RootFolder,
        StoreRule::FileParent => FindingKind::FileParent,
        StoreRule::FileImage => FindingKind::FileImage,
        StoreRule::PhotoFileHasImage => FindingKind::UnlinkedFile,
        StoreRule::DeletedWithFiles => FindingKind::DeletionMark,
        StoreRule::FolderBytes => FindingKind::FolderBytes,
        StoreRule::AlbumCopies => FindingKind::AlbumCopy,
        StoreRule::Regions => FindingKind::Regions,
        StoreRule::PlaceIndex => FindingKind::PlaceIndex,
        StoreRule::MapPoint | StoreRule::MapCells => FindingKind::Map,
        StoreRule::WordIndex | StoreRule::WordsHaveImage => FindingKind::WordIndex,
        StoreRule::VectorsHaveImage => FindingKind::StrayVector,
    }
}

/// Whether a repair changes the registration of blobs.
fn is_about_blobs(rule: StoreRule) -> bool {
    matches!(
        rule,
        StoreRule::OriginalIsKept | StoreRule::PartialOriginalIsKept | StoreRule::RenditionsAreKept
    )
}

impl Audit<'_> {
    pub(super) async fn check_structure(&mut self) -> Result<(), IntegrityError> {
        self.show("metadata store", 0);
        let store = &self.upkeep.parts.store;
        let messages = store.check_structure(self.options.depth, MAX_MESSAGES).await?;
        self.add_messages(FindingKind::StoreDamage, messages);
        Ok(())
    }

    /// Runs after the repairs, because they delete rows that refer to missing rows.
    pub(super) async fn check_references(&mut self) -> Result<(), IntegrityError> {
        self.show("references", 0);
        let messages = self.upkeep.parts.store.check_references(MAX_MESSAGES).await?;
        self.add_messages(FindingKind::DanglingReference, messages);
        Ok(())
    }

    fn add_messages(&mut self, kind: FindingKind, messages: Vec<String>) {
        for message in messages {
            self.add(kind, false, message);
        }
    }

    pub(super) async fn check_rules(&mut self) -> Result<(), IntegrityError> {
        let mut checked = 0;
        for rule in StoreRule::ALL {
            let mut after = None;
            loop {
                let page = self.check_page(rule, after).await?;
                checked += page.checked;
                self.report.rows += page.checked;
                self.show("rows", checked);
                let Some(last) = page.last else { break };
                after = Some(last);
            }
        }
        Ok(())
    }

    async fn check_page(
        &mut self,
        rule: StoreRule,
        after: Option<RuleRow>,
    ) -> Result<CheckedRows, IntegrityError> {
        let page = self.upkeep.parts.store.check_rule(rule, after, BATCH).await?;
        let left = match self.options.repair && !page.violations.is_empty() {
            true => self.repair_page(rule, after, &page).await?,
            false => page.violations.iter().map(|violation| violation.row).collect(),
        };
        for violation in &page.violations {
            let repaired = !left.contains(&violation.row);
            self.awaits_renditions |= repaired && kind_of(rule) == FindingKind::MissingRendition;
            self.add(kind_of(rule), repaired, text(violation));
        }
        Ok(page)
    }

    /// Repairs the rows of a page. Returns those that still break the rule.
    async fn repair_page(
        &self,
        rule: StoreRule,
        after: Option<RuleRow>,
        page: &CheckedRows,
    ) -> Result<HashSet<RuleRow>, IntegrityError> {
        let store = &self.upkeep.parts.store;
        let rows: Vec<RuleRow> = page.violations.iter().map(|violation| violation.row).collect();
        let mut sweeper = if is_about_blobs(rule) { self.sweeper().await? } else { None };
        if is_about_blobs(rule) && sweeper.is_none() {
            return Ok(rows.into_iter().collect());
        }
        for rows in rows.chunks(REPAIR_BATCH) {
            if let Some(sweeper) = &mut sweeper
                && !sweeper.is_valid().await?
            {
                break;
            }
            store.repair_rule(rule, rows, self.upkeep.parts.clock.now()).await?;
        }
        if let Some(sweeper) = sweeper {
            sweeper.release().await;
        }
        let again = store.check_rule(rule, after, BATCH).await?;
        Ok(again.violations.into_iter().map(|violation| violation.row).collect())
    }
}

fn text(violation: &Violation) -> String {
    match (&violation.image, &violation.detail) {
        (Some(image), Some(detail)) => format!("{}: {detail}", describe(image)),
        (Some(image), None) => describe(image),
        (None, Some(detail)) => detail.clone(),
        (None, None) => format!("row {}", violation.row.0),
    }
}
