/**
 * `npm run bench`: Homeport and its peers in one table; `npm run bench -- deploy api` runs parts of it, `languages:go,ruby` some cases of a part.
 * Everything is measured in the same run, in interleaved rounds. Only the ratios are meaningful; absolute figures depend on the machine and its load.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parts } from './parts.ts'
import type { BenchRow } from './row.ts'
import { createBenchStore } from './store.ts'

let store: string | undefined
/** Created once, for the parts that need it. */
const bigStore = async () => {
  if (store !== undefined) return store
  const made = await createBenchStore()
  console.error(`made a store of 10 000 projects and 210 000 deployments in ${made.seconds.toFixed(0)} s`)
  return (store = made.data)
}

const wanted = new Map(
  process.argv.slice(2).map((word) => {
    const [name = '', cases] = word.split(':')
    return [name, cases?.split(',')] as const
  }),
)
const unknown = [...wanted.keys()].filter((name) => !(name in parts))
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}.`)
  process.exit(2)
}

const rows: BenchRow[] = []
try {
  for (const [name, run] of Object.entries(parts)) {
    if (wanted.size > 0 && !wanted.has(name)) continue
    const begun = performance.now()
    console.error(`${name} ...`)
    try {
      rows.push(...(await run({ store: bigStore, cases: wanted.get(name) })))
    } catch (error) {
      console.error(error)
      rows.push({
        name,
        who: 'homeport',
        value: null,
        unit: '',
        ratios: {},
        bar: 'runs to its end',
        ok: false,
        note: error instanceof Error ? error.message : String(error),
      })
    }
    console.error(`${name}: ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  }
} finally {
  if (store !== undefined) rmSync(store, { recursive: true, force: true })
}

const lines = tableOf(rows)
console.log(lines.join('\n'))
const folder = join(import.meta.dirname, '../../out')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'bench.json'), `${JSON.stringify({ at: new Date().toISOString(), node: process.version, rows }, null, 2)}\n`)
const failed = rows.filter((row) => row.ok === false)
console.log(`\n${rows.filter((row) => row.ok).length} bars hold, ${failed.length} do not. All figures: out/bench.json`)
process.exit(failed.length > 0 ? 1 : 0)

/** One line for each measure of Homeport, with its peers. */
function tableOf(all: BenchRow[]): string[] {
  const table = [['measure', 'ours', 'peers', 'ratio', 'bar', 'holds']]
  for (const row of all.filter((one) => one.who === 'homeport')) {
    const peers = all.filter((one) => one.name === row.name && one.who !== 'homeport')
    table.push([
      row.name,
      row.value === null ? 'not measured' : figure(row),
      peers.map((peer) => `${peer.who} ${peer.value === null ? `missing: ${peer.note ?? ''}` : figure(peer)}`).join(', '),
      Object.entries(row.ratios)
        .map(([who, ratio]) => `${ratio.toFixed(2)} x ${who}`)
        .join(', '),
      row.bar ?? '',
      [row.ok === undefined ? '' : row.ok ? 'yes' : 'NO', row.note ?? ''].filter(Boolean).join(': '),
    ])
  }
  const widths = table[0]?.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0))) ?? []
  const text = table.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  return [text[0] ?? '', `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...text.slice(1)]
}

function figure(row: BenchRow): string {
  const value = row.value ?? NaN
  return `${value >= 100 ? Math.round(value) : value.toPrecision(3)} ${row.unit}`
}
