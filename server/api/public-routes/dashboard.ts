import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lookup } from 'mrmime'
import { routeNotFound } from '../parse-input.ts'
import { htmlPage } from '../html-page.ts'
import { textResponse } from '../response.ts'
import type { ApiResponse } from '../response.ts'

/** Nothing but our own files runs, and nobody frames us. Styles in attributes are what a component library needs. */
const dashboardCsp =
  "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; connect-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

/**
 * For the card form alone: what Stripe's browser script needs (docs.stripe.com, "Security at Stripe"). Its page is a document of its
 * own without the rest of the dashboard, so that no other page ever runs beside a foreign script.
 */
const stripeSources = 'https://js.stripe.com https://*.js.stripe.com'
const cardFormCsp = `${dashboardCsp}; script-src 'self' ${stripeSources}; frame-src ${stripeSources} https://hooks.stripe.com`
  .replace("connect-src 'self'", "connect-src 'self' https://api.stripe.com")
  .replace("img-src 'self' data:", "img-src 'self' data: https://*.stripe.com")
const cardFormPath = '/app/account/card'

/**
 * The files of the dashboard below /app/. Their names are read once, at the start: a path is looked up in that list, never
 * joined to a folder. A path without an extension is a page of the app and gets index.html.
 */
export function createDashboard(directory: string | null, options: { has_card_form: boolean }) {
  const files = new Map<string, string>()
  if (directory !== null && existsSync(join(directory, 'index.html'))) {
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const file = join(entry.parentPath, entry.name)
      files.set(`/app${file.slice(directory.length).replaceAll('\\', '/')}`, file)
    }
  }
  const index = files.get('/app/index.html')
  // The build leaves smaller twins beside its files (renderer/vite.config.ts). They are answers, not addresses.
  const compressedFiles = new Map([...files].filter(([path]) => compressedExtension.test(path)))
  for (const path of compressedFiles.keys()) files.delete(path)

  return async function serveFile(path: string, accepted = ''): Promise<ApiResponse> {
    if (index === undefined)
      return htmlPage(
        200,
        'The dashboard is not built yet',
        '<p>Run <code>npm start</code> in the repository: it builds the dashboard and opens it. The API works without it.</p>',
      )
    const file = files.get(path)
    if (file === undefined && /\.[^/]*$/.test(path)) throw routeNotFound()
    const isPage = file === undefined || file === index
    const servedPath = isPage ? '/app/index.html' : path
    const coding = codings.find(({ name, ending }) => acceptsCoding(accepted, name) && compressedFiles.has(servedPath + ending))
    const compressed = coding && compressedFiles.get(servedPath + coding.ending)
    return textResponse(200, isPage ? 'text/html; charset=utf-8' : contentType(path), await readFile(compressed ?? file ?? index), {
      ...(coding && { 'content-encoding': coding.name }),
      vary: 'accept-encoding',
      // No other origin reads these files or holds a reference to the window: ports of one host are one site, so apps are near.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': options.has_card_form && path === cardFormPath ? cardFormCsp : dashboardCsp,
      // The build puts a hash of the content into the names below assets/.
      'cache-control': !isPage && path.startsWith('/app/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
  }
}

/** Best first. Browsers offer brotli where nobody on the way can meddle: over HTTPS and on this very machine. */
const codings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const
const compressedExtension = /\.(?:br|gz)$/

/** Whether `Accept-Encoding` names a coding, and not in order to refuse it (`br;q=0`). */
function acceptsCoding(accepted: string, coding: string): boolean {
  return accepted.split(',').some((one) => {
    const [name = '', ...parameters] = one.toLowerCase().split(';')
    return name.trim() === coding && !parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(parameter))
  })
}

function contentType(path: string): string {
  const type = lookup(path) ?? 'application/octet-stream'
  return /^text\/|javascript|json|xml/.test(type) ? `${type}; charset=utf-8` : type
}
