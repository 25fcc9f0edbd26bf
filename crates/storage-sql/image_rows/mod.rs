//! Rows of images as their owners see them.

mod details;
mod lookup;
mod row;
mod visibility;

pub(crate) use details::DetailsRow;
pub(crate) use lookup::{
    ImageWithOwner, VisibleImage, image, image_by_one_query, owner_columns, resolve_image, resolve_images,
    visible_images, visible_to_owner,
};
pub(crate) use row::{ImageRow, ImageRowWithOwner, found_image, load_in_order};
pub(crate) use visibility::{Visibility, count};
