/** Names: an exported one is unique, and no name is a metaphor that the code once had. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './runner/command.ts'
import { declaredNames } from './runner/declared-names.ts'
import { isCode, listFiles } from './runner/imports.ts'

/** This file has the banned names themselves. */
const textOf = new Map(
  listFiles()
    .filter((file) => isCode(file) && file !== 'test/names.test.ts')
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
)

describe('names', () => {
  /**
   * Not counted: what a .d.mts file repeats of its .mjs file, a default export, which its importer names, and a command of the command line, which has
   * the name that users type.
   */
  const exported =
    /^export (?:declare )?(?:interface|type|(?:const )?enum|(?:abstract )?class|(?:async )?function\*?|const|let) (?!enum\b|\w+: CliCommand\b)(\w+)/gm
  const exportedNamesIn = (text: string) => new Set([...text.matchAll(exported)].map(([, name = '']) => name))

  test.each(['server', 'renderer', 'main'])('an exported type, function or constant of %s/ has a name of its own', (folder) => {
    const filesByName = new Map<string, string[]>()
    for (const [file, text] of textOf) {
      if (!file.startsWith(`${folder}/`) || file.endsWith('.d.mts')) continue
      for (const name of exportedNamesIn(text)) filesByName.set(name, [...(filesByName.get(name) ?? []), file])
    }
    expect([...filesByName].filter(([, declaredIn]) => declaredIn.length > 1)).toEqual([])
  })

  test.each([
    ['export async function load() {}', ['load']],
    ['export const limits = {}\nexport const load = 1', ['limits', 'load']],
    ['export function sum(a: 1): 1\nexport function sum(a: 2): 2', ['sum']],
    ['export interface Row {}\nexport type Id = string', ['Row', 'Id']],
    ['export const backup: CliCommand = {', []],
    ['export default function Page() {}\nconst own = 1', []],
  ])('exported names are found: %j', (text, names) => {
    expect([...exportedNamesIn(text)]).toEqual(names)
  })

  /** Metaphors that the code once had. Each has a standard term, which server/README.md lists. */
  const bannedWords = new Set(
    [
      'yard',
      'gate',
      'desk',
      'door',
      'city',
      'berth',
      'harbour',
      'graves',
      'shelf',
      'wish',
      'sight',
      'plate',
      'homecoming',
      'tidings',
      'stumble',
    ].concat([
      'beacon',
      'crossings',
      'elsewhere',
      'entrance',
      'place',
      'mend',
      'ledger',
      'verdict',
      'letter',
      'passage',
      'parked',
      'tally',
      'visit',
      'nobody',
    ]),
  )
  const isBanned = (name: string) =>
    name
      .split(/[^a-zA-Z]|(?<=[a-z0-9])(?=[A-Z])/)
      .map((word) => word.toLowerCase())
      .some((word) => bannedWords.has(word) || bannedWords.has(word.replace(/s$/, '')))

  /** Names that others have chosen, or that shipped files contain. */
  const excusedNames: Record<string, readonly string[]> = {
    // The part of a postal address, as registrars and Stripe call it.
    city: [
      'renderer/features/domains/domain-dialogs.tsx',
      'renderer/features/domains/registrant-fields.tsx',
      'server/api/openapi/examples.ts',
      'server/contract/domains.ts',
      'test/api/domain-market.test.ts',
      'test/renderer/features/domains-buy.test.tsx',
      'test/renderer/features/domains-dialogs.test.tsx',
    ],
    // What earlier versions have stored.
    ledger_version: ['server/maintenance/backup/backup-format.ts', 'test/maintenance/forged-backups.ts'],
    wish: ['renderer/features/promotion/promotion-storage.ts', 'renderer/stores/tour.ts', 'test/renderer/stored-state.test.ts'],
    // Names of samples and sites in tests.
    'harbour-news': ['renderer/features/projects/sample-picker.tsx'],
    harbour: ['test/screenshots/sites.full.test.ts'],
    visit: ['renderer/stores/tour.ts', 'test/renderer/stored-state.test.ts'],
    elsewhere: ['server/store/migrations/index.ts'],
    'overview-elsewhere': ['test/e2e/screen-tiers.ts'],
    // The JSON of a sample whose subject is letters.
    letter: ['test/deployments/samples.full.test.ts'],
    letters: ['test/deployments/samples.full.test.ts'],
  }
  const bannedNamesIn = (file: string, text: string) =>
    [...declaredNames(file, text)].filter((name) => isBanned(name) && !excusedNames[name]?.includes(file)).map((name) => `${file}: ${name}`)

  test('no identifier, property or internal value is one of the metaphors of the past', () => {
    // Parsing every file takes seconds, and few contain such a word at all.
    const suspected = new RegExp(`(?:(?<![a-zA-Z])|(?<=[a-z0-9])(?=[A-Z]))(?i:${[...bannedWords].join('|')})s?(?![a-z])`)
    expect([...textOf].filter(([, text]) => suspected.test(text)).flatMap(([file, text]) => bannedNamesIn(file, text))).toEqual([])
  })

  test.each([
    ['const theLedger = 1', 'theLedger'],
    ['function visit_all() {}', 'visit_all'],
    ['export interface Hint { mend: string }', 'mend'],
    ['class A { #verdict = 1 }', 'verdict'],
    ['const { place } = row', 'place'],
    ['const f = (nobodyElse: string) => nobodyElse', 'nobodyElse'],
    ['for (const letters of all) log(letters)', 'letters'],
    ["type State = 'running' | 'parked'", 'parked'],
    ['const row = { kind: "passage" }', 'passage'],
    ['import { tally as tallySum } from "x"', 'tallySum'],
  ])('a banned name is found: %s', (code, name) => {
    expect(bannedNamesIn('server/x.ts', code)).toEqual([`server/x.ts: ${name}`])
  })

  test.each([
    'const placement = text.replace(placeholder, workplace)',
    'const navigate = gateway.platform',
    "import { visit } from 'yaml'",
    'const revisited = recommended + amendment',
    "const sentence = 'The place where nobody looks'",
  ])('a name that only resembles one is legal: %s', (code) => {
    expect(bannedNamesIn('server/x.ts', code)).toEqual([])
  })
})
