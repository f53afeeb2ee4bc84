import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSourceFetcher } from '../../server/source/index.ts'
import { fullTest } from '../support/full-test.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { createRecordedLog } from '../support/runtime.ts'

const source = createSourceFetcher({ environment: { PATH: process.env.PATH } })
let into: string
let log = createRecordedLog()
beforeEach(() => {
  log = createRecordedLog()
  into = mkdtempSync(join(tmpdir(), 'homeport-into-'))
})
afterEach(() => rmSync(into, { recursive: true, force: true }))

const fetch = (path: string) => source.fetchSource({ source: { kind: 'folder', path }, into, log, signal: new AbortController().signal })
const copied = (folder = into) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
const write = (folder: string, files: Record<string, string>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

describe('a folder with a git repository', () => {
  let repository: Repository
  beforeEach(() => {
    repository = makeRepository({ 'a.txt': 'one', 'sub/b.txt': 'two', '.gitignore': 'node_modules\n.env\n*.log\n' })
  })
  afterEach(() => repository.remove())

  test('is copied as its working tree without ignored files; commit and uncommitted changes are reported', async () => {
    const clean = await fetch(repository.folder)
    expect(clean).toMatchObject({ branch: 'main', commit_message: 'First', commit_author: 'Test Author', is_dirty: false })
    expect(clean.commit_sha).toMatch(/^[0-9a-f]{40}$/)
    rmSync(into, { recursive: true })
    mkdirSync(into)

    write(repository.folder, { 'a.txt': 'changed', 'new.txt': 'new', '.env': 'SECRET=1', 'x.log': 'noise', 'node_modules/m/index.js': '' })
    rmSync(join(repository.folder, 'sub/b.txt'))
    const dirty = await fetch(repository.folder)
    expect(dirty.is_dirty).toBe(true)
    expect(copied(dirty.folder)).toEqual(['.gitignore', 'a.txt', 'new.txt'])
    expect(readFileSync(join(dirty.folder, 'a.txt'), 'utf8')).toBe('changed')
  })

  fullTest('includes the files of its submodules; an empty one is reported', async () => {
    const library = makeRepository({ 'lib.js': '1', '.gitignore': 'dist\n' })
    execFileSync('git', ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.url, 'lib'], { cwd: repository.folder })
    repository.commit({}, 'A submodule')
    write(repository.folder, { 'lib/new.js': '2', 'lib/dist/x.js': '3' })
    expect(copied((await fetch(repository.folder)).folder)).toEqual([
      '.gitignore',
      '.gitmodules',
      'a.txt',
      'lib/.gitignore',
      'lib/lib.js',
      'lib/new.js',
      'sub/b.txt',
    ])
    rmSync(into, { recursive: true })
    rmSync(join(repository.folder, 'lib'), { recursive: true })
    mkdirSync(join(repository.folder, 'lib'))
    await fetch(repository.folder)
    expect(log.lines.join('\n')).toContain('Warning: the submodule lib is empty.')
    library.remove()
  })

  test('keeps only symlinks that stay inside', async () => {
    symlinkSync('a.txt', join(repository.folder, 'inside'))
    symlinkSync('/etc/passwd', join(repository.folder, 'outside'))
    repository.commit({}, 'Links')
    const found = await fetch(repository.folder)
    expect(copied(found.folder)).toEqual(['.gitignore', 'a.txt', 'inside', 'sub/b.txt'])
    expect(readlinkSync(join(found.folder, 'inside'))).toBe('a.txt')
  })
})

describe('a folder without git', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-folder-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('is copied by its ignore files; dependencies and .git never are', async () => {
    write(folder, {
      'index.html': 'x',
      '.gitignore': 'dist/\n*.tmp\n',
      'dist/out.js': '',
      'a.tmp': '',
      'node_modules/m/index.js': '',
      'deep/er/file.txt': '',
    })
    const found = await fetch(folder)
    expect(found).toMatchObject({ branch: null, commit_sha: null, is_dirty: false })
    expect(copied(found.folder)).toEqual(['.gitignore', 'deep/er/file.txt', 'index.html'])
  })

  test('that does not exist fails with a hint, and leaves nothing', async () => {
    await expect(fetch(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'clone_failed', hint: expect.stringMatching(/\w{3,}/) })
    expect(copied()).toEqual([])
  })

  test('with many files is copied completely', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `d${n % 20}/f${n}.txt`)
    write(folder, Object.fromEntries(names.map((name) => [name, name])))
    const found = await fetch(folder)
    expect(copied(found.folder)).toEqual(names.toSorted())
    for (const name of names) expect(readFileSync(join(found.folder, name), 'utf8')).toBe(name)
  })
})
