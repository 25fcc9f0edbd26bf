//! How to connect well-known apps to the library. The account page, the command `mcp-config` and `docs/connecting.md` use
//! these texts.
//!
//! To add an app, add a variant to [`McpApp`], to [`McpApp::ALL`] and to [`ConnectionGuide::new`].

use std::{fmt, str::FromStr};

use serde_json::json;

use http_server::BaseUrl;

use web_auth::mcp_url;

/// The name of the library in an app.
const NAME: &str = "photos";

/// An app that supports MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpApp {
    /// claude.ai, and Claude on phones and desktops, which connect through it.
    Claude,
    /// Claude's desktop app, for a library that only its machine can reach.
    ClaudeDesktop,
    /// Claude in the terminal.
    ClaudeCode,
    /// ChatGPT on the web.
    ChatGpt,
    /// Visual Studio Code.
    VsCode,
    Cursor,
    /// The developer tool of the MCP project.
    Inspector,
}

/// The name of an app is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be claude, claude-desktop, claude-code, chatgpt, vscode, cursor or inspector")]
pub struct UnknownApp;

impl McpApp {
    pub const ALL: [Self; 7] = [
        Self::Claude,
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::ChatGpt,
        Self::VsCode,
        Self::Cursor,
        Self::Inspector,
    ];

    /// Its name on the command line.
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

    /// Its name in text.
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

    /// Whether it connects from its maker's servers, which must reach the base URL by https.
    fn is_hosted(self) -> bool {
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

/// How to connect one app to the library at one base URL. It contains no secret, because apps sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionGuide {
    pub app: McpApp,
    /// The steps, in plain text.
    pub steps: Vec<String>,
    /// The text to paste, ending with a line break.
    pub snippet: String,
    /// The language of the snippet in Markdown: `text`, `json` or `sh`.
    pub language: &'static str,
    /// Why the app cannot connect at this base URL, if so.
    pub obstacle: Option<String>,
}

impl ConnectionGuide {
    /// The guide for `app` and the service at `base_url`.
    pub fn new(app: McpApp, base_url: &BaseUrl) -> Self {
        let url = mcp_url(base_url);
        let (steps, snippet, language): (&[&str], _, _) = match app {
            McpApp::Claude => (
                &[
                    "On claude.ai or in the desktop app, open Settings, then Connectors, and choose “Add custom \
                     connector”. In a team, an owner does this once for all.",
                    "Enter a name, and paste this address as the URL. Leave the advanced settings empty.",
                    "Choose “Connect”. Sign in to the library in the window that opens, then choose “Allow”.",
                ],
                format!("{url}\n"),
                "text",
            ),
            McpApp::ClaudeDesktop => (
                &[
                    "Install Node.js. It runs the program mcp-remote, which connects the desktop app to a library on the \
                     same machine; the desktop app itself only connects to the internet.",
                    "In the desktop app, open Settings, then Developer, and choose “Edit Config”. Paste this into the \
                     file claude_desktop_config.json.",
                    "Quit the desktop app and start it again. Sign in to the library in the browser window that opens, \
                     then choose “Allow”.",
                ],
                pretty(&json!({ "mcpServers": { NAME: {
                    "command": "npx",
                    "args": ["-y", "mcp-remote", url],
                } } })),
                "json",
            ),
            McpApp::ClaudeCode => (
                &[
                    "Run this command. It adds the library to the current project; with --scope user, to all projects.",
                    "In Claude Code, enter /mcp, choose photos, then “Authenticate”. Sign in to the library in the \
                     browser window that opens, then choose “Allow”.",
                ],
                format!("claude mcp add --transport http {NAME} {url}\n"),
                "sh",
            ),
            McpApp::ChatGpt => (
                &[
                    "On chatgpt.com, open Settings, then “Apps & Connectors”, and turn on developer mode in the advanced \
                     settings. In a workspace, an administrator may have to allow it first.",
                    "Choose “Create”, enter a name, paste this address as the MCP server URL, and keep OAuth as the \
                     authentication.",
                    "Sign in to the library in the window that opens, then choose “Allow”. In a chat, turn the library \
                     on in the “+” menu.",
                ],
                format!("{url}\n"),
                "text",
            ),
            McpApp::VsCode => (
                &[
                    "Paste this into the file .vscode/mcp.json of a folder. For all folders, paste it into the file that \
                     the command “MCP: Open User Configuration” opens.",
                    "Choose “Start” above the entry. Sign in to the library in the browser window that opens, then \
                     choose “Allow”.",
                ],
                pretty(&json!({ "servers": { NAME: { "type": "http", "url": url } } })),
                "json",
            ),
            McpApp::Cursor => (
                &[
                    "Paste this into the file ~/.cursor/mcp.json. For one folder only, paste it into .cursor/mcp.json in \
                     that folder.",
                    "In Cursor's settings, open “Tools & MCP” and choose “Connect” beside photos. Sign in to the library \
                     in the browser window that opens, then choose “Allow”.",
                ],
                pretty(&json!({ "mcpServers": { NAME: { "url": url } } })),
                "json",
            ),
            McpApp::Inspector => (
                &[
                    "Run this command with Node.js 22.19 or newer, and open the address that it prints.",
                    "Choose “Connect”. Sign in to the library in the window that opens, then choose “Allow”.",
                ],
                format!("npx @modelcontextprotocol/inspector --transport http --server-url {url}\n"),
                "sh",
            ),
        };
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        Self { app, steps, snippet, language, obstacle: obstacle(app, base_url) }
    }

    pub fn all(base_url: &BaseUrl) -> Vec<Self> {
        McpApp::ALL.into_iter().map(|app| Self::new(app, base_url)).collect()
    }
}

fn obstacle(app: McpApp, base_url: &BaseUrl) -> Option<String> {
    let is_unreachable = base_url.is_loopback() || !base_url.is_https();
    (app.is_hosted() && is_unreachable).then(|| {
        format!(
            "{} connects from the internet over https, so it cannot reach {}. Start the server with its public address and \
             --acme, such as --base-url {EXAMPLE} --acme, or behind a reverse proxy with TLS.",
            app.title(),
            base_url.as_str()
        )
    })
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

/// All guides as a Markdown document, for a library at an example address.
pub fn connecting_document() -> String {
    let mut text = String::from(HEAD);
    let Ok(base_url) = BaseUrl::parse(EXAMPLE) else { return text };
    let local = BaseUrl::parse(LOCAL_EXAMPLE);
    for app in McpApp::ALL {
        let base_url = match (&local, app) {
            (Ok(local), McpApp::ClaudeDesktop | McpApp::Inspector) => local,
            _ => &base_url,
        };
        let guide = ConnectionGuide::new(app, base_url);
        text.push_str(&format!("\n## {}\n\n", app.title()));
        for (index, step) in guide.steps.iter().enumerate() {
            text.push_str(&format!("{}. {step}\n", index.saturating_add(1)));
        }
        text.push_str(&format!("\n```{}\n{}```\n", guide.language, guide.snippet));
    }
    text.push_str(TAIL);
    text
}

const EXAMPLE: &str = "https://photos.example.org";
const LOCAL_EXAMPLE: &str = "http://127.0.0.1:8080";

const HEAD: &str = "# Connecting apps

An app needs one address, the MCP URL: the base URL of the library followed by `/api/mcp/v1`. The app finds the
authorization server by itself, registers, and opens a browser where you sign in and allow access. You copy no secret. The
page `/account` lists the connected apps and lets you disconnect them.

The examples below use `https://photos.example.org`, or `http://127.0.0.1:8080` for apps on the same machine.
`server mcp-config CLIENT EMAIL` prints them for your own library: `server mcp-config vscode ann@example.org`. Claude and
ChatGPT connect from the internet, so they need a base URL that the internet can reach by https.
";

const TAIL: &str = "
## Apps that cannot sign in

An app without OAuth can use an API key instead. Create one with `server key create EMAIL --name NAME` or on the page
`/account`. The app sends it with every request in the header `Authorization: Bearer KEY`. A key gives full
access to the photos and albums of its owner until it is revoked. For example, for Claude Code:

```sh
claude mcp add --transport http photos https://photos.example.org/api/mcp/v1 --header \"Authorization: Bearer KEY\"
```

## Directories of apps

A directory shows a server to everyone who uses its apps. Your own library needs none: the steps above are enough. If you host a
library for other people, this is what the directories of Claude and OpenAI ask for:

| asked for | Claude | OpenAI | how |
|---|---|---|---|
| a public address with https | yes | yes | `--base-url`, with `--acme` or a reverse proxy |
| OAuth | yes | yes | nothing to do; ChatGPT identifies itself by a document and signs its requests |
| tools with a title and hints, and names of at most 64 characters | yes | yes | nothing to do: [mcp.md](mcp.md) lists the tools |
| privacy policy, terms of service, support page | yes | yes | `--policy-url`, `--terms-url`, `--support-url` |
| proof of the domain | no | yes | `--openai-apps-challenge TOKEN`, with the token that OpenAI shows |
| example prompts | three | starter prompts | see below |
| screenshots of the app | yes | yes | ask an app to show pictures, and cut out what the library shows |
| an account for reviewers | yes | yes | `server account create`, with photos that anyone may see |

The consent page links to the three pages. They are also in the metadata of the authorization server, as `op_policy_uri`, `op_tos_uri` and
`service_documentation`. Example prompts:

- Show me my photos of boats from last summer.
- Which photo has the receipt from the hardware store, and what was the total?
- Put the best garden photos of this spring into an album called Garden.

The [MCP registry](https://modelcontextprotocol.io/registry) lists servers for all apps. The command below prints its file
`server.json`, in which the host is a variable, so that the entry also describes libraries that others host. The name in it begins with
your domain in reverse. `mcp-publisher` publishes the file after a proof of the domain.

```sh
server mcp-config registry --base-url https://photos.example.org > server.json
```
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_ids_are_parsed() {
        for app in McpApp::ALL {
            assert_eq!(app.to_string().parse(), Ok(app));
            assert!(UnknownApp.to_string().contains(app.id()), "{app}");
        }
        for other in ["", "Claude", "claude ", "vs-code"] {
            assert_eq!(other.parse::<McpApp>(), Err(UnknownApp), "{other}");
        }
    }

    #[test]
    fn every_snippet_contains_the_mcp_url() {
        for base_url in ["http://127.0.0.1:8080", "https://photos.example.org", "http://[::1]:9"] {
            let base_url = BaseUrl::parse(base_url).unwrap();
            let all = ConnectionGuide::all(&base_url);
            assert_eq!(all.len(), McpApp::ALL.len());
            for guide in all {
                let url = mcp_url(&base_url);
                assert_eq!(guide.snippet.matches(&url).count(), 1, "{guide:?}");
                assert!(guide.snippet.ends_with('\n') && !guide.steps.is_empty(), "{guide:?}");
                if guide.language == "json" {
                    serde_json::from_str::<serde_json::Value>(&guide.snippet).unwrap();
                }
            }
        }
    }

    #[test]
    fn hosted_apps_need_a_public_https_url() {
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
    fn the_document_contains_every_app() {
        let text = connecting_document();
        for app in McpApp::ALL {
            assert!(text.contains(&format!("\n## {}\n", app.title())), "{app}\n{text}");
        }
        assert!(text.ends_with("```\n") && !text.contains("\n\n\n"), "{text}");
    }
}
