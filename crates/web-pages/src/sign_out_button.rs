//! The button that signs out.

use keys::{FormSigner, session_hash};
use maud::{Markup, Render, html};

use crate::{forms::csrf_field, paths::SIGN_OUT};

/// The purpose that the token of the button is bound to, beside the session.
pub(crate) const PURPOSE: &[u8] = b"sign out";

/// A button that ends the session of this browser and leads back to `return_to`.
pub(crate) fn sign_out_button(
    forms: &FormSigner,
    session_token: &str,
    return_to: &str,
    label: impl Render,
) -> Markup {
    html! {
        form.aside method="post" action=(SIGN_OUT) {
            (csrf_field(forms, &[PURPOSE, &session_hash(session_token)]))
            input type="hidden" name="return_to" value=(return_to);
            button.quiet type="submit" { (label) }
        }
    }
}
