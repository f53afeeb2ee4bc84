import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A real git repository in its own folder, for deployments by `file://`. */
export interface Repository {
  folder: string
  url: string
  /** Writes files (null removes one) and commits them; the sha. */
  commit(files: Record<string, string | null>, message?: string): string
  remove(): void
}

export function makeRepository(files: Record<string, string>): Repository {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-repository-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test Author', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false', ...args], {
      cwd: folder,
      encoding: 'utf8',
    }).trim()
  // Creates what `git init` creates without its two processes, because hundreds of tests start with it.
  const dotGit = join(folder, '.git')
  for (const path of ['hooks', 'info', 'objects', 'refs/heads', 'refs/tags']) mkdirSync(join(dotGit, path), { recursive: true })
  writeFileSync(join(dotGit, 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(
    join(dotGit, 'config'),
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[uploadpack]\n\tallowAnySHA1InWant = true\n[maintenance]\n\tauto = false\n',
  )
  const repository: Repository = {
    folder,
    url: pathToFileURL(folder).href,
    commit(changed, message = 'A change') {
      for (const [name, text] of Object.entries(changed)) {
        const path = join(folder, name)
        if (text === null) rmSync(path, { force: true })
        else {
          mkdirSync(dirname(path), { recursive: true })
          writeFileSync(path, text)
        }
      }
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '--message', message)
      const head = readFileSync(join(dotGit, 'HEAD'), 'utf8').trim()
      return head.startsWith('ref: ') ? readFileSync(join(dotGit, head.slice(5)), 'utf8').trim() : head
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
  repository.commit(files, 'First')
  return repository
}

/** A server without dependencies that builds quickly and reports its version. */
export const tinyServer = (version: string, extra = ''): Record<string, string> => ({
  'package.json': JSON.stringify({ name: 'tiny', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const http = require('node:http')
${extra}
const server = http.createServer((request, response) => response.end(${JSON.stringify(version)}))
server.listen(process.env.PORT, process.env.HOST, () => console.log('version ${version} listens'))
process.on('SIGTERM', () => server.close(() => process.exit(0)))
`,
})
