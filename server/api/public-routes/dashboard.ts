import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lookup } from 'mrmime'
import { routeNotFound } from '../parse-input.ts'
import { htmlPage } from '../html-page.ts'
import { textResponse } from '../response.ts'
import type { ApiResponse } from '../response.ts'

/** Allows only own scripts and no framing. Inline styles are allowed because a component library sets style attributes. */
const dashboardCsp =
  "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; connect-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

/**
 * The policy of the card form: what Stripe's browser script needs (docs.stripe.com, "Security at Stripe"). The form is a separate document,
 * so that no other page runs together with a third-party script.
 */
const stripeSources = 'https://js.stripe.com https://*.js.stripe.com'
const cardFormCsp = `${dashboardCsp}; script-src 'self' ${stripeSources}; frame-src ${stripeSources} https://hooks.stripe.com`
  .replace("connect-src 'self'", "connect-src 'self' https://api.stripe.com")
  .replace("img-src 'self' data:", "img-src 'self' data: https://*.stripe.com")
const cardFormPath = '/app/account/card'

/**
 * Serves the files of the dashboard under /app/. File names are read once at startup, and paths are looked up in that list, never joined
 * to a folder. A path without an extension is a page of the app and gets index.html.
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
  // The build adds compressed copies (renderer/vite.config.ts). They are served by content negotiation, not at their own paths.
  const compressedFiles = new Map([...files].filter(([path]) => compressedExtension.test(path)))
  for (const path of compressedFiles.keys()) files.delete(path)

  return async function serveFile(path: string, accepted = ''): Promise<ApiResponse> {
    if (index === undefined)
      return htmlPage(
        200,
        'The dashboard is not built yet',
        '<p>Run <code>npm start</code> in the repository to build and open the dashboard. The API works without it.</p>',
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
      // Other origins cannot read these files or reference the window. Apps on other ports of this host are same-site.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': options.has_card_form && path === cardFormPath ? cardFormCsp : dashboardCsp,
      // File names under assets/ contain a content hash.
      'cache-control': !isPage && path.startsWith('/app/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
  }
}

/** Best first. Browsers accept brotli only over HTTPS and on localhost. */
const codings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const
const compressedExtension = /\.(?:br|gz)$/

/** Whether `Accept-Encoding` lists a coding without `q=0`. */
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
