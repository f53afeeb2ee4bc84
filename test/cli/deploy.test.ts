import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientCommands } from '../../server/cli/command-line.ts'
import { type CliCommand, parseArguments } from '../../server/cli/command.ts'
import { createHelpCommand } from '../../server/cli/help.ts'
import { serve } from '../../server/cli/serve.ts'
import { standby } from '../../server/cli/standby.ts'
import { type CommandLine, commandLine, runCommand } from '../support/command.ts'
import { createTempFolder, root } from '../support/instance-process.ts'
import { makeRepository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

const folder = createTempFolder('deploy')
const site = join(folder.path, 'My Site')
let platform: SharedPlatform
let run: CommandLine

beforeAll(async () => {
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), 'from a folder')
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, folder.path)
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})
const page = async (slug: string, path = '/') => {
  const { status, body } = await platform.fetchEdge(`${slug}.localhost`, path)
  return { status, body }
}

describe('deploy', () => {
  test('accepts a folder with a one-letter name', async () => {
    for (const [name, git] of [
      ['a', false],
      ['b', true],
    ] as const) {
      const path = join(folder.path, name)
      mkdirSync(path)
      writeFileSync(join(path, 'index.html'), name)
      if (git) execFileSync('git', ['init', '--quiet', path])
      expect(await run('deploy', path)).toMatchObject({ code: 0, err: '' })
      expect((await page(`${name}-app`)).body).toBe(name)
    }
    expect(await run.json('projects', 'create', 'C')).toMatchObject({ project: { slug: 'c-app', name: 'C' } })
  })

  test('refuses an empty folder, and creates no project for it', async () => {
    for (const [name, git] of [
      ['empty', false],
      ['empty-git', true],
    ] as const) {
      const path = join(folder.path, name)
      mkdirSync(join(path, 'node_modules'), { recursive: true })
      if (git) execFileSync('git', ['init', '--quiet', path])
      expect(await run('deploy', path)).toMatchObject({ code: 2, err: expect.stringContaining('has no files to deploy') })
      expect((await run('projects', 'show', name)).code).toBe(1)
    }
  })

  test('--git deploys the repository of a project; a folder replaces it only after confirmation or with --replace', async () => {
    const repository = makeRepository({ 'index.html': 'from git' })
    await run('projects', 'create', 'Linked', '--repo', repository.url)
    expect(await run('deploy', '--git', '--project', 'linked')).toMatchObject({ code: 0, out: expect.stringContaining('✓ Live') })
    const refused = { code: 1, err: expect.stringMatching(/deployed from file:.*--replace.*--git/s) }
    expect(await run('deploy', site, '--project', 'linked')).toMatchObject(refused)
    const runWithAnswer = (answer: string) =>
      runCommand(platform.handle.instance, folder.path, ['deploy', site, '--project', 'linked'], { answers: [answer] })
    expect(await runWithAnswer('n')).toMatchObject({ code: 1, prompts: [{ question: expect.stringContaining('[y/N]') }] })
    expect((await page('linked')).body).toBe('from git')
    expect((await runWithAnswer('y')).code).toBe(0)
    expect((await page('linked')).body).toBe('from a folder')
    // From now on it is deployed from folders.
    expect((await run('deploy', site, '--project', 'linked')).code).toBe(0)
    expect(await run('deploy', '--git')).toMatchObject({ code: 2, err: expect.stringContaining('--project') })
    expect((await run('deploy', '--git', '--project', 'linked')).code).toBe(0)
    expect((await run('deploy', site, '--project', 'linked', '--replace')).code).toBe(0)
    repository.remove()
  })

  const plain = join(folder.path, 'plain')
  const files: Record<string, string> = {
    '.gitignore': '*.log\n/private/\n!keep.log\n',
    '.dockerignore': '# what the image need not have\ndocs\n*.tmp\n',
    'index.html': 'home',
    'keep.log': 'kept',
    'drop.log': 'dropped',
    'private/x.html': 'dropped',
    'sub/private/x.html': 'kept',
    'sub/.gitignore': 'own.html\n',
    'sub/own.html': 'dropped',
    'docs/x.html': 'dropped',
    'sub/docs/x.html': 'kept',
    'x.tmp': 'dropped',
    '.env': 'SECRET=1',
    'node_modules/a/x.html': 'dropped',
  }

  test('uploads what .gitignore and .dockerignore leave', async () => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(plain, name, '..'), { recursive: true })
      writeFileSync(join(plain, name), content)
    }
    symlinkSync('/etc/passwd', join(plain, 'out.html'))
    symlinkSync(join(plain, 'index.html'), join(plain, 'in.html'))
    const { code, out, err } = await run('deploy', plain, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      project: { slug: 'plain', repo_url: null },
      deployment: { source: 'upload', trigger: 'upload', status: 'ready' },
    })
    expect(err).toContain('Skipped .env')
    expect(err).toContain('Skipped the link out.html')
    const answers = await Promise.all(
      Object.keys(files)
        .filter((name) => !name.startsWith('.') && !name.includes('/.'))
        .map(async (name) => [name, (await page('plain', `/${name}`)).status === 200 ? 'kept' : 'dropped'] as const),
    )
    const expected = answers.map(([name]) => [name, files[name] === 'dropped' ? 'dropped' : 'kept'])
    expect(answers).toEqual(expected)
    expect((await page('plain', '/in.html')).body).toBe('home')
  })

  test('the instance reads a folder with git itself', async () => {
    const repository = makeRepository({ 'index.html': 'from git' })
    expect(await run.json('deploy', fileURLToPath(repository.url), '--project', 'with-git')).toMatchObject({
      deployment: { source: 'folder', commit_sha: expect.stringMatching(/^[0-9a-f]{40}$/) },
    })
    repository.remove()
  })
})

/** The flags and words that follow `homeport` in a sentence, up to its end or to plain prose. */
const advice = /\bhomeport ((?:(?:--?)?[A-Za-z$][\w$-]*(?:[{][^}]*[}])?(?:[=/.:|][\w{}$/-]+)*[ \n]?)+)/g
/** What follows the name elsewhere: placeholders, labels in files, a list of reserved names. */
const noAdvice = /^(--help|COMMAND|\$.*|begin|end|status|promotion|update)$/
const prose = /^(again|and|frees|has|lists|says|sets|shows|signs|tells)$/

test('every command in a message, help page or the README exists, options included', () => {
  const commands: Record<string, CliCommand> = { serve, standby, ...clientCommands, help: createHelpCommand({}, () => '') }
  const files = ['server', 'main', 'renderer', 'resources/package'].flatMap((under) =>
    readdirSync(join(root, under), { recursive: true, encoding: 'utf8' }).map((name) => `${under}/${name}`),
  )
  const isKnown = ([name = '', verb = '', ...more]: string[]): boolean => {
    const command = commands[name.split('$')[0]!]
    if (!command) return false
    const takesVerbs = command.usage.some((form) => /^\S+ \[?[a-z]/.test(form)) && /^[a-z]+$/.test(verb) && !prose.test(verb)
    if (takesVerbs && !command.usage.some((form) => form.split(/\W/).includes(verb) || /^\S+ \[?(SLUG|PATH)/.test(form))) return false
    const flags = [verb, ...more].filter((word) => word.startsWith('-')).map((flag) => flag.split('=')[0]!)
    return flags.every((flag) => [[flag], [flag, 'x']].some((args) => tried(() => parseArguments(command, args))))
  }
  const advised = [...files, 'README.md']
    .filter((name) => /\.(tsx?|mjs|md)$/.test(name))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(advice)].map(([, text = '']) => ({ file, words: text.trim().split(/\s+/) })),
    )
    .filter(({ words }) => !noAdvice.test(words[0]!))
  expect(advised.filter(({ words }) => !isKnown(words))).toEqual([])
  expect(advised.length).toBeGreaterThan(100)
})

const tried = (work: () => unknown): boolean => {
  try {
    work()
    return true
  } catch {
    return false
  }
}
