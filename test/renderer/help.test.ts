import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findTopic, searchTopics, readBlockText, topics } from '../../server/help/topics.ts'
import { helpTopicForError, helpTopicForFailure } from '../../renderer/lib/help-topic-for.ts'
import { explainFailure } from '../../server/builder/explain-failure.ts'
import { clientCommands } from '../../server/cli/command-line.ts'
import { type CliCommand, parseArguments } from '../../server/cli/command.ts'
import { serve } from '../../server/cli/serve.ts'
import { standby } from '../../server/cli/standby.ts'
import { failureCode } from '../../server/contract/deployments.ts'
import { type ErrorCode, errorStatus } from '../../server/contract/errors.ts'
import { errorHelpTopics, helpTopics } from '../../server/contract/help.ts'

const all = topics.map((topic) => ({ id: topic.id, blocks: topic.body, text: topic.body.map(readBlockText).join('\n') }))

describe('the help topics', () => {
  it('are those of the contract, each once', () => {
    expect(topics.map(({ id }) => id).toSorted()).toEqual([...helpTopics].toSorted())
  })

  it('link to existing pages', () => {
    const routes = readFileSync(join(import.meta.dirname, '../../renderer/routes.ts'), 'utf8')
    const links = all.flatMap(({ text }) => [...text.matchAll(/\[\[([^\]|]+)(?:\|[^\]]+)?\]\]/g)].map(([, to]) => to ?? ''))
    expect(links.length).toBeGreaterThan(20)
    for (const link of links)
      if (link.startsWith('/')) expect(routes, link).toContain(`'${link.split('?')[0]}':`)
      else expect(findTopic(link), link).toBeDefined()
  })

  it('name existing commands with existing options', () => {
    const lines = all.flatMap(({ blocks }) => blocks.flatMap((block) => (typeof block !== 'string' && 'run' in block ? [block.run] : [])))
    const commands = lines.flatMap((line) => [...line.matchAll(/npx homeport ([^)"]+)/g)].map(([, rest]) => (rest ?? '').trim().split(' ')))
    expect(commands.length).toBeGreaterThan(30)
    for (const [name = '', ...rest] of commands) {
      const command = new Map<string, CliCommand>(Object.entries({ ...clientCommands, serve, standby })).get(name)
      if (!command) throw new Error(`There is no command ${name}.`)
      expect(() => parseArguments(command, rest), `${name} ${rest.join(' ')}`).not.toThrow()
    }
  })

  it('close every tag', () => {
    for (const { id, text } of all) {
      expect((text.match(/`/g) ?? []).length % 2, id).toBe(0)
      expect((text.match(/\*\*/g) ?? []).length % 2, id).toBe(0)
    }
  })

  it.each([
    ['libnss', 'names'],
    ['certificate warning', 'https'],
    ['storage_full', 'disk'],
    ['ENOSPC', 'disk'],
    ['colima', 'engine'],
    ['qr', 'phones'],
    ['402', 'plans'],
    ['Health Check', 'health-check'],
  ])('“%s” finds %s', (query, id) => expect(searchTopics(query)[0]?.id).toBe(id))

  it('a nonsense query finds nothing, an empty one everything', () => {
    expect(searchTopics('zeppelin')).toEqual([])
    expect(searchTopics('  ')).toHaveLength(topics.length)
  })
})

describe('links to help', () => {
  it('cover every error code, except those known to explain themselves', () => {
    const codes = Object.keys(errorStatus) as ErrorCode[]
    expect(Object.keys(errorHelpTopics).toSorted()).toEqual(codes.toSorted())
    // Codes for missing resources, invalid input and conflicts, whose message is sufficient.
    const plain = /_not_found$|^invalid_|_too_l|_exists?$|_taken$|^method_|^unsupp|^expect|_timeout$|^bad_/
    expect(codes.filter((code) => helpTopicForError(code) === null && !plain.test(code))).toEqual([
      'slug_reserved',
      'deployment_terminal',
      'price_changed',
    ])
    expect(helpTopicForError('unreachable')).toBe('trouble')
  })

  it('cover every way in which a deployment fails', () => {
    for (const code of failureCode.options) expect(helpTopicForFailure({ code, message: '' }), code).not.toBeNull()
  })

  it.each([
    ['HULL is not set', 'environment'],
    ['npm error code ENOTFOUND', 'offline'],
    ['unable to get local issuer certificate', 'offline'],
    ['FATAL ERROR: JavaScript heap out of memory', 'memory'],
    ['ENOSPC: no space left on device', 'disk'],
    ['Error: listen EADDRINUSE: address already in use :::3000', 'health-check'],
    ['sh: 1: vite: not found', 'builds'],
    ['something nobody has ever seen', 'builds'],
  ])('“%s” in a log links to %s', (line, topic) =>
    expect(helpTopicForFailure(explainFailure([line], 'build', { code: 'build_failed', message: '', hint: '' }))).toBe(topic),
  )

  it('an unknown code has no link, and breaks nothing', () => {
    expect(helpTopicForError('of_tomorrow' as ErrorCode)).toBeNull()
  })
})
