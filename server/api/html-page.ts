import { textResponse } from './response.ts'
import type { ApiResponse } from './response.ts'

/** A server-rendered page with at most one own script and no external resources. It follows the light or dark scheme and is never cached. */
export function htmlPage(
  status: number,
  title: string,
  body: string,
  options: { wide?: boolean; has_form?: boolean; script?: string } = {},
): ApiResponse {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Homeport</title>
<style>${style}</style>
${options.script === undefined ? '' : `<script src="${options.script}" defer></script>\n`}</head>
<body${options.wide ? ' class="wide"' : ''}>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`
  return textResponse(status, 'text/html; charset=utf-8', html, {
    'content-security-policy': `default-src 'none';${options.script === undefined ? '' : " script-src 'self';"} style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action ${options.has_form ? "'self'" : "'none'"}`,
    'cache-control': 'no-store',
    // With no-referrer, browsers submit forms with `Origin: null`, which would fail the origin check.
    ...(options.has_form ? { 'referrer-policy': 'same-origin' } : {}),
  })
}

export const escapeHtml = (value: string) => value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const style = `
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e8eaed); --soft: light-dark(#5b6470, #9aa3ae); --line: light-dark(#e3e6ea, #2c3138); --ground: light-dark(#ffffff, #14171b); --panel: light-dark(#f6f7f9, #1b1f24); --accent: light-dark(#0b6bcb, #6cb6ff); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; }
main { max-width: 40rem; margin: 12vh auto 4rem; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; letter-spacing: -0.01em; margin: 0 0 1rem; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; } a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
code, pre { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: 0.1em 0.35em; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1rem; overflow-x: auto; } pre code { background: none; border: 0; padding: 0; }
.wide main { max-width: 76rem; margin-top: 3rem; }
.layout { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 3rem; align-items: start; }
.layout > nav { position: sticky; top: 1.5rem; max-height: calc(100vh - 3rem); overflow-y: auto; font-size: 0.875rem; } .layout nav ul { list-style: none; margin: 0 0 1.25rem; padding: 0; } .layout nav li { padding: 0.15rem 0; } .layout nav strong { color: var(--soft); font-weight: 600; }
h2 { font-size: 1.25rem; margin: 3rem 0 0.5rem; padding-top: 1rem; border-top: 1px solid var(--line); } h2:first-child { margin-top: 0; padding-top: 0; border-top: 0; }
article { border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.25rem; margin: 1rem 0; scroll-margin-top: 1rem; } article h3 { font-size: 1rem; margin: 0 0 0.35rem; } article p { margin: 0.35rem 0; } article h4 { font-size: 0.8rem; color: var(--soft); margin: 0.9rem 0 0.3rem; }
.route { display: flex; gap: 0.6rem; align-items: baseline; flex-wrap: wrap; } .method { font: 600 0.75rem/1 ui-monospace, monospace; padding: 0.3rem 0.5rem; border-radius: 5px; color: var(--ground); background: var(--soft); } .GET { background: light-dark(#1a7f4b, #57c98a); } .POST { background: light-dark(#0b6bcb, #6cb6ff); } .PATCH { background: light-dark(#8a5a00, #e0b050); } .DELETE { background: light-dark(#b3261e, #ff8a80); }
form { display: grid; gap: 0.35rem; max-width: 24rem; margin: 1.5rem 0; } label { font-weight: 600; font-size: 0.9rem; }
input { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: 8px; padding: 0.55rem 0.75rem; margin-bottom: 0.75rem; width: 100%; } input:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button { font: inherit; font-weight: 600; color: var(--ground); background: var(--accent); border: 0; border-radius: 8px; padding: 0.6rem 1rem; cursor: pointer; }
[role=alert] { border-left: 3px solid light-dark(#b3261e, #ff8a80); padding: 0.5rem 0.9rem; background: var(--panel); border-radius: 0 8px 8px 0; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; display: block; overflow-x: auto; } th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.9rem 0.35rem 0; border-bottom: 1px solid var(--line); } th { color: var(--soft); font-weight: 600; }
td:first-child code { white-space: nowrap; } td:last-child { min-width: 8rem; }
summary { font-size: 0.875rem; color: var(--soft); cursor: pointer; margin-top: 0.5rem; }
.layout > div > p:first-child { margin-top: 0; }
@media (max-width: 52rem) { .layout { grid-template-columns: minmax(0, 1fr); gap: 1rem; } .layout > nav { position: static; max-height: none; } }
`
