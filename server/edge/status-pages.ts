import type { EdgeResponse, RequestContext } from './response.ts'
import type { Route } from './edge.ts'
import type { UpstreamFailure } from './upstream/exchange.ts'

/** Every status page of the edge. */
export type StatusPageName = Extract<Route, { kind: 'page' }>['page'] | 'unknown_host' | 'dev_down' | 'bad_gateway' | 'gateway_timeout' | 'not_found'

interface PageTemplate {
  status: number
  title: string
  /** `NAME` is replaced by the project's name. */
  text: string
  retry_after_s?: number
  /** The page reloads itself at this interval. */
  refresh_s?: number
}

const pageTemplates: Record<StatusPageName, PageTemplate> = {
  unknown_host: {
    status: 404,
    title: 'Project not found',
    text: 'No project has this name. Check the spelling, or find your project’s URL in the dashboard.',
  },
  not_deployed: {
    status: 404,
    title: 'Not deployed yet',
    text: 'NAME has no deployments yet. Deploy it to make it available at this URL.',
  },
  building: {
    status: 503,
    title: 'Building',
    text: 'The first version of NAME is being built. This page refreshes when it is ready.',
    retry_after_s: 5,
    refresh_s: 2,
  },
  starting: {
    status: 503,
    title: 'Starting',
    text: 'NAME is taking longer than usual to start. This page retries automatically.',
    retry_after_s: 5,
    refresh_s: 2,
  },
  stopped: { status: 503, title: 'Stopped', text: 'NAME was stopped. Deploy it again to start it.', retry_after_s: 60 },
  crashed: {
    status: 502,
    title: 'The app keeps crashing',
    text: 'NAME keeps exiting right after it starts. Check its runtime log for the cause.',
    retry_after_s: 30,
  },
  failed: {
    status: 404,
    title: 'The deployment failed',
    text: 'The last deployment of NAME failed, and there is no earlier version to serve. Check its build log for the cause.',
  },
  no_web_service: {
    status: 404,
    title: 'No app at this address',
    text: 'NAME is running, but none of its services accepts requests. Give one of them a port to make it available at this URL.',
  },
  not_on_node: {
    status: 503,
    title: 'Not available at this node',
    text: 'NAME runs only on the machine of Homeport. Deploy it again to make it available at every node of the cluster.',
    retry_after_s: 60,
  },
  control_plane_away: {
    status: 503,
    title: 'Homeport is not responding',
    text: 'No running app has this name here. If the app is asleep, it starts when Homeport responds again. This page retries automatically.',
    retry_after_s: 5,
    refresh_s: 5,
  },
  dev_starting: {
    status: 503,
    title: 'The development server is starting',
    text: 'NAME is being started by homeport dev. This page refreshes when it responds.',
    retry_after_s: 1,
    refresh_s: 1,
  },
  dev_down: {
    status: 502,
    title: 'The development server is not responding',
    text: 'The development server of NAME has stopped or is restarting. Check the terminal in which homeport dev runs. This page retries automatically.',
    retry_after_s: 2,
    refresh_s: 2,
  },
  bad_gateway: {
    status: 502,
    title: 'The app did not respond',
    text: 'NAME refused the connection, closed it, or sent an invalid HTTP response. Check its runtime log.',
    retry_after_s: 5,
  },
  gateway_timeout: {
    status: 504,
    title: 'The app timed out',
    text: 'NAME did not respond in time. Try again, or check its runtime log.',
    retry_after_s: 5,
  },
  not_found: { status: 404, title: 'Page not found', text: 'NAME has no page at this URL.' },
}

/** Error codes in the JSON format, for clients to branch on. */
const pageErrorCodes: Partial<Record<StatusPageName, string>> = { not_found: 'page_not_found' }

/** The page for a route that serves nothing itself. */
export const pageForRoute = (route: Route): StatusPageName => (route.kind === 'page' ? route.page : 'bad_gateway')

export const pageForFailure = (failure: UpstreamFailure, route: Route | undefined): StatusPageName =>
  failure === 'timeout'
    ? 'gateway_timeout'
    : route?.kind === 'asleep'
      ? 'starting'
      : route?.kind === 'development' && failure === 'refused'
        ? 'dev_down'
        : 'bad_gateway'

/** A status page about a host name, in the format that the client prefers. */
export function createPageResponse(name: StatusPageName, context: RequestContext, route: Route | undefined): EdgeResponse {
  const page = pageTemplates[name]
  const link = route && context.isLoopbackClient && /^https?:\/\//.test(route.dashboard_url) ? route.dashboard_url : undefined
  const text = page.text.replaceAll('NAME', route ? route.project_name : 'The app')
  return renderResponse(context, { ...page, code: pageErrorCodes[name] ?? name, text, link })
}

/** The response to a request that the edge rejects. */
export function createErrorResponse(status: number, message: string, context: Pick<RequestContext, 'id' | 'header'>): EdgeResponse {
  return renderResponse(context, {
    status,
    title: errorTitles[status] ?? 'Bad request',
    code: errorCodes[status] ?? 'bad_request',
    text: message,
    link: undefined,
  })
}

const errorTitles: Record<number, string> = {
  405: 'Method not allowed',
  408: 'Request timeout',
  413: 'Too large',
  414: 'URL too long',
  417: 'Expectation failed',
  421: 'Misdirected request',
  431: 'Headers too large',
  500: 'Something went wrong',
  503: 'Service unavailable',
}
const errorCodes: Record<number, string> = {
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'payload_too_large',
  414: 'uri_too_long',
  417: 'expectation_failed',
  421: 'misdirected_request',
  431: 'headers_too_large',
  500: 'internal_error',
}

interface PageContent extends PageTemplate {
  code: string
  link: string | undefined
}

function renderResponse(context: Pick<RequestContext, 'id' | 'header'>, content: PageContent): EdgeResponse {
  const json = prefersJson(context.header('accept'))
  const text = json
    ? `${JSON.stringify({ error: { code: content.code, message: `${content.title}. ${content.text}`, request_id: context.id } })}\n`
    : renderHtml(content, context.id)
  const body = Buffer.from(text)
  const type = json ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8'
  const retry = content.retry_after_s === undefined ? '' : `Retry-After: ${content.retry_after_s}\r\n`
  const policy = json ? '' : `Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\r\n`
  const lines = `Content-Type: ${type}\r\nCache-Control: no-store\r\nVary: Accept\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n${policy}${retry}`
  return { status: content.status, lines, body, length: body.length }
}

/** JSON for clients that accept JSON and not HTML. Browsers, and `curl` with its wildcard, get the page. */
const prefersJson = (accept: string | undefined): boolean => accept !== undefined && /[/+]json\b/i.test(accept) && !/text\/html/i.test(accept)

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

function renderHtml(content: PageContent, id: string): string {
  const refresh = content.refresh_s === undefined ? '' : `<meta http-equiv="refresh" content="${content.refresh_s}">`
  const link = content.link === undefined ? '' : `<a href="${escapeHtml(content.link)}">Open in the dashboard</a>`
  const progressBar = content.refresh_s === undefined ? '' : '<div class="bar" role="progressbar" aria-label="Working"><i></i></div>'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${refresh}
<title>${escapeHtml(content.title)}</title>
<style>
:root{--ground:#f7f6f3;--card:#fff;--ink:#1d1c1a;--soft:#66625a;--line:#e4e1da;--mark:#1f6feb}
@media (prefers-color-scheme:dark){:root{--ground:#131416;--card:#1b1d20;--ink:#f0efec;--soft:#a3a19b;--line:#2c2f34;--mark:#79b0ff}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;background:var(--ground);color:var(--ink);font:16px/1.6 ui-sans-serif,system-ui,-apple-system,"Segoe UI",sans-serif}
main{width:100%;max-width:480px;padding:40px;background:var(--card);border:1px solid var(--line);border-radius:16px}
p{margin:0 0 20px;color:var(--soft);overflow-wrap:anywhere}
h1{margin:0 0 8px;font-size:24px;line-height:1.25;letter-spacing:-.01em}
.status{margin:0 0 20px;font-size:13px;font-weight:600;letter-spacing:.08em;color:var(--mark)}
a{display:inline-block;margin-bottom:20px;color:var(--mark);font-weight:600;text-underline-offset:3px}
code{font:12px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}
small{display:block;padding-top:16px;border-top:1px solid var(--line);color:var(--soft)}
.bar{height:3px;margin:0 0 24px;border-radius:3px;background:var(--line);overflow:hidden}
.bar i{display:block;width:40%;height:100%;border-radius:3px;background:var(--mark);animation:go 1.4s ease-in-out infinite}
@keyframes go{from{transform:translateX(-100%)}to{transform:translateX(250%)}}
@media (prefers-reduced-motion:reduce){.bar i{animation:none;width:100%;opacity:.5}}
</style>
</head>
<body>
<main>
<div class="status">${content.status}</div>
<h1>${escapeHtml(content.title)}</h1>
<p>${escapeHtml(content.text)}</p>
${progressBar}${link}
<small>Request <code>${id}</code></small>
</main>
</body>
</html>
`
}
