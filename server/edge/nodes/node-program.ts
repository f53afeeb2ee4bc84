import { readFileSync } from 'node:fs'
import type { NodeSettings } from './protocol.ts'
import { startNodeEdge } from './node-edge.ts'

/** The edge of another node of a cluster, as a program of its own. Its argument is the path of a file with its settings. Whatever runs it starts it again when it ends. */
const edge = await startNodeEdge(JSON.parse(readFileSync(process.argv.at(-1) ?? '', 'utf8')) as NodeSettings, () => process.exit())

/** One that replaces this one has started before. */
const succession_ms = 3_000

async function end(): Promise<void> {
  await edge.waitForNext(succession_ms)
  await edge.close().finally(() => process.exit())
}
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void end())
