import { open, type Stats } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { close, fstat, read } from 'node:fs'
import { join, sep } from 'node:path'
import { lookup } from 'mrmime'
import type { Answer, FileSlice, Visit } from './answer.ts'
import type { Route } from './edge.ts'
import { pageAnswer } from './pages.ts'

/** The files of a static deployment, served by the edge itself. */
export interface StaticSite {
  answer(visit: Visit, done: (answer: Answer) => void): void
  close(): void
}

export function createStaticSite(route: Extract<Route, { kind: 'static' }>): StaticSite {
  return {
    answer(visit, done) {
      find(visit).then(done, () => done(pageAnswer('not_found', visit, route)))
    },
    close() {},
  }

  async function find(visit: Visit): Promise<Answer> {
    const path = decodeURIComponent(visit.target.split('?')[0] ?? '/')
    const root = await realpath(route.directory)
    for (const name of [path, `${path}/index.html`, `${path}.html`, ...(route.spa_fallback ? ['/index.html'] : [])]) {
      const answer = await file(root, join(root, name))
      if (answer) return answer
    }
    return pageAnswer('not_found', visit, route)
  }

  async function file(root: string, path: string): Promise<Answer | undefined> {
    const real = await realpath(path).catch(() => '')
    if (!real.startsWith(root + sep)) return undefined
    const opened = await new Promise<{ fd: number; stats: Stats } | undefined>((resolve) =>
      open(real, 'r', (error, fd) => (error ? resolve(undefined) : fstat(fd, (_, stats) => resolve({ fd, stats })))),
    )
    if (!opened) return undefined
    if (!opened.stats.isFile()) {
      close(opened.fd)
      return undefined
    }
    const slice: FileSlice = {
      start: 0,
      end: opened.stats.size,
      read: (buffer, position, length, done) => read(opened.fd, buffer, 0, length, position, (error, count, bytes) => done(error, count, bytes)),
      close: () => close(opened.fd),
    }
    return { status: 200, lines: `Content-Type: ${lookup(real) ?? 'application/octet-stream'}\r\n`, body: slice, length: opened.stats.size }
  }
}
