//! How well-known apps are connected to the library: what their owner does, and what they paste. The command
//! `mcp-config`, `docs/connecting.md` and whoever else tells it take the words from here.
//!
//! To add an app: a variant of [`McpApp`], its line in [`McpApp::ALL`], and an arm in [`Connecting::new`].

use std::{fmt, str::FromStr};

use serde_json::json;

use http_server::BaseUrl;

use web_api::McpResource;

/// What the library is called in an app.
const NAME: &str = "photos";

/// An app that speaks MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpApp {
    /// claude.ai, and Claude on phones and desktops, which connect by way of it.
    Claude,
    /// Claude's desktop app, connecting from the machine that it runs on.
    ClaudeDesktop,
    /// Claude in the terminal.
    ClaudeCode,
    /// ChatGPT on the web.
    ChatGpt,
    /// Visual Studio Code.
    VsCode,
    /// Cursor.
    Cursor,
    /// The protocol's own developer tool.
    Inspector,
}

/// There is no app of this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be claude, claude-desktop, claude-code, chatgpt, vscode, cursor or inspector")]
pub struct UnknownApp;

impl McpApp {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Claude,
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::ChatGpt,
        Self::VsCode,
        Self::Cursor,
        Self::Inspector,
    ];

    /// The name that programs use.
    pub fn id(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::ChatGpt => "chatgpt",
            Self::VsCode => "vscode",
            Self::Cursor => "cursor",
            Self::Inspector => "inspector",
        }
    }

    /// The name that people use.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude",
            Self::ClaudeDesktop => "Claude Desktop, for a library on the same machine",
            Self::ClaudeCode => "Claude Code",
            Self::ChatGpt => "ChatGPT",
            Self::VsCode => "VS Code",
            Self::Cursor => "Cursor",
            Self::Inspector => "MCP Inspector",
        }
    }

    /// Whether it connects from its maker's servers, so that the base URL has to be reachable from there by https.
    fn comes_from_the_internet(self) -> bool {
        matches!(self, Self::Claude | Self::ChatGpt)
    }
}

impl FromStr for McpApp {
    type Err = UnknownApp;

    fn from_str(id: &str) -> Result<Self, UnknownApp> {
        Self::ALL.into_iter().find(|app| app.id() == id).ok_or(UnknownApp)
    }
}

impl fmt::Display for McpApp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id())
    }
}

/// How one app is connected to the library at one base URL. Nothing in it is secret: apps sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionGuide {
    /// The app.
    pub app: McpApp,
    /// What to do, in this order, in plain text.
    pub steps: Vec<String>,
    /// What to paste; it ends with a line break.
    pub snippet: String,
    /// What the snippet is written in, as Markdown names it: `text`, `json` or `sh`.
    pub language: &'static str,
    /// Why it cannot work at this base URL, if so.
    pub obstacle: Option<String>,
}

/// The MCP endpoint of the service at this base URL.
pub fn mcp_url(base_url: &BaseUrl) -> String {
    format!("{}{}", base_url.as_str(), McpResource::V1.path())
}

impl ConnectionGuide {
    /// How `app` is connected to the service at `base_url`.
    pub fn new(app: McpApp, base_url: &BaseUrl) -> Self {
        let url = mcp_url(base_url);
        let (steps, snippet, language): (&[&str], _, _) = match app {
            McpApp::Claude => (
                &[
                    "On claude.ai or in the desktop app, open Settings, then Connectors, and choose “Add custom \
                     connector”. In a team, an owner does this once for all.",
                    "Name it, and paste this address as its URL. The advanced settings stay empty.",
                    "Choose “Connect”; sign in to the library in the window that opens, and allow it.",
                ],
                format!("{url}\n"),
                "text",
            ),
            McpApp::ClaudeDesktop => (
                &[
                    "Install Node.js: the desktop app reaches only the internet by itself, and the program mcp-remote, \
                     which needs Node.js, reaches the library from this machine.",
                    "In the desktop app, open Settings, then Developer, and choose “Edit Config”. Put this into the \
                     file claude_desktop_config.json.",
                    "Quit the desktop app and start it again; sign in to the library in the browser window that \
                     opens, and allow it.",
                ],
                pretty(&json!({ "mcpServers": { NAME: {
                    "command": "npx",
                    "args": ["-y", "mcp-remote", url],
                } } })),
                "json",
            ),
            McpApp::ClaudeCode => (
                &[
                    "Run this. This adds it to the current project. Add --scope user to add it to all projects.",
                    "In Claude Code, enter /mcp, choose photos, then “Authenticate”; sign in to the library in the \
                     browser window that opens, and allow it.",
                ],
                format!("claude mcp add --transport http {NAME} {url}\n"),
                "sh",
            ),
            McpApp::ChatGpt => (
                &[
                    "On chatgpt.com, open Settings, then “Apps & Connectors”, and in its advanced settings switch \
                     on the developer mode. In a workspace, an administrator may have to allow it first.",
                    "Choose “Create”, name it, paste this address as its MCP server URL, and leave the authentication \
                     at OAuth.",
                    "Sign in to the library in the window that opens, and allow it. In a chat, switch it on from the \
                     menu behind “+”.",
                ],
                format!("{url}\n"),
                "text",
            ),
            McpApp::VsCode => (
                &[
                    "Put this into the file .vscode/mcp.json of a folder, or into the file that the command “MCP: Open \
                     User Configuration” opens, for all folders.",
                    "Choose “Start” above the entry; sign in to the library in the browser window that opens, and \
                     allow it.",
                ],
                pretty(&json!({ "servers": { NAME: { "type": "http", "url": url } } })),
                "json",
            ),
            McpApp::Cursor => (
                &[
                    "Put this into the file ~/.cursor/mcp.json, or into .cursor/mcp.json of a folder, for that one \
                     alone.",
                    "In Cursor's settings, open “Tools & MCP” and choose “Connect” beside photos; sign in to the library \
                     in the browser window that opens, and allow it.",
                ],
                pretty(&json!({ "mcpServers": { NAME: { "url": url } } })),
                "json",
            ),
            McpApp::Inspector => (
                &[
                    "Run this with Node.js 22.19 or newer, and open the address that it prints.",
                    "Choose “Connect”; sign in to the library in the window that opens, and allow it.",
                ],
                format!("npx @modelcontextprotocol/inspector --transport http --server-url {url}\n"),
                "sh",
            ),
        };
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        Self { app, steps, snippet, language, obstacle: obstacle(app, base_url) }
    }

    /// All apps at this base URL.
    pub fn all(base_url: &BaseUrl) -> Vec<Self> {
        McpApp::ALL.into_iter().map(|app| Self::new(app, base_url)).collect()
    }
}

fn obstacle(app: McpApp, base_url: &BaseUrl) -> Option<String> {
    let out_of_reach = base_url.is_loopback() || !base_url.is_https();
    (app.comes_from_the_internet() && out_of_reach).then(|| {
        format!(
            "{} connects from the internet and needs https, so it cannot reach {}. Put a proxy with TLS in front, and \
             start the server with its address, such as --base-url {EXAMPLE}.",
            app.title(),
            base_url.as_str()
        )
    })
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

/// All of it as a Markdown document, for a library at an invented address.
pub fn connecting_document() -> String {
    let mut text = String::from(HEAD);
    let Ok(base_url) = BaseUrl::parse(EXAMPLE) else { return text };
    let local = BaseUrl::parse(LOCAL_EXAMPLE);
    for app in McpApp::ALL {
        let base_url = match (&local, app) {
            (Ok(local), McpApp::ClaudeDesktop | McpApp::Inspector) => local,
            _ => &base_url,
        };
        let connecting = ConnectionGuide::new(app, base_url);
        text.push_str(&format!("\n## {}\n\n", app.title()));
        for (index, step) in connecting.steps.iter().enumerate() {
            text.push_str(&format!("{}. {step}\n", index.saturating_add(1)));
        }
        text.push_str(&format!("\n```{}\n{}```\n", connecting.language, connecting.snippet));
    }
    text.push_str(TAIL);
    text
}

const EXAMPLE: &str = "https://photos.example.org";
const LOCAL_EXAMPLE: &str = "http://127.0.0.1:8080";

const HEAD: &str = "# Connecting apps

An app gets one address, the MCP URL: the base URL of the library with `/api/mcp/v1` behind it. It finds the authorization
server by itself, registers, and opens a browser in which you sign in and allow it; nothing secret is copied. What is
connected stands at `/account`, and can be disconnected there.

Below, the library is at `https://photos.example.org`, or at `http://127.0.0.1:8080` where that is what the app is for.
`server mcp-config CLIENT EMAIL` prints the same for your own: `server mcp-config vscode ann@example.org`. Claude and
ChatGPT connect from the internet: for them the base URL has to be reachable there, by https.
";

const TAIL: &str = "
## Apps that cannot sign in

An app without OAuth takes an API key instead, which `server key create EMAIL --name NAME` or the page `/account` makes: it is
sent with every request as the header `Authorization: Bearer KEY`. It can do all that its owner can, until it is
revoked. For Claude Code, for example:

```sh
claude mcp add --transport http photos https://photos.example.org/api/mcp/v1 --header \"Authorization: Bearer KEY\"
```
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_app_has_an_id_that_is_read_back() {
        for app in McpApp::ALL {
            assert_eq!(app.to_string().parse(), Ok(app));
            assert!(UnknownApp.to_string().contains(app.id()), "{app}");
        }
        for other in ["", "Claude", "claude ", "vs-code"] {
            assert_eq!(other.parse::<McpApp>(), Err(UnknownApp), "{other}");
        }
    }

    #[test]
    fn every_app_is_told_the_mcp_url() {
        for base_url in ["http://127.0.0.1:8080", "https://photos.example.org", "http://[::1]:9"] {
            let base_url = BaseUrl::parse(base_url).unwrap();
            let all = ConnectionGuide::all(&base_url);
            assert_eq!(all.len(), McpApp::ALL.len());
            for connecting in all {
                let url = mcp_url(&base_url);
                assert_eq!(connecting.snippet.matches(&url).count(), 1, "{connecting:?}");
                assert!(connecting.snippet.ends_with('\n') && !connecting.steps.is_empty(), "{connecting:?}");
                if connecting.language == "json" {
                    serde_json::from_str::<serde_json::Value>(&connecting.snippet).unwrap();
                }
            }
        }
    }

    #[test]
    fn what_is_out_of_reach_is_said() {
        let obstacle = |app, base_url| ConnectionGuide::new(app, &BaseUrl::parse(base_url).unwrap()).obstacle;
        for (app, base_url, expect) in [
            (McpApp::Claude, "http://127.0.0.1:8080", true),
            (McpApp::ChatGpt, "https://localhost", true),
            (McpApp::ChatGpt, "http://photos.example.org", true),
            (McpApp::Claude, "https://photos.example.org", false),
            (McpApp::ClaudeDesktop, "http://127.0.0.1:8080", false),
            (McpApp::Cursor, "http://127.0.0.1:8080", false),
        ] {
            assert_eq!(obstacle(app, base_url).is_some(), expect, "{app} {base_url}");
        }
    }

    #[test]
    fn the_document_has_every_app() {
        let text = connecting_document();
        for app in McpApp::ALL {
            assert!(text.contains(&format!("\n## {}\n", app.title())), "{app}\n{text}");
        }
        assert!(text.ends_with("```\n") && !text.contains("\n\n\n"), "{text}");
    }
}
