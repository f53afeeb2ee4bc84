/**
 * The public suite for HTTP caches against an edge of its own, or against any address:
 * `node test/http-cache/run.ts`, `node test/http-cache/run.ts TEST-ID` (one test, every head shown),
 * `node test/http-cache/run.ts --base=http://127.0.0.1:8002` (any other proxy in front of the suite's server).
 */
import { startEdge } from '../support/edge.ts'
import { askSuite, figures, passed, startSuiteServer, suiteTests } from './suite.ts'

const [id = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const given = process.argv.find((argument) => argument.startsWith('--base='))?.slice('--base='.length)
const ordinary = process.argv.includes('--ordinary')

const closers: (() => Promise<void>)[] = []
try {
  const base = given ?? (await ownEdge())
  const tests = await suiteTests()
  const { results, text } = await askSuite(base, id)
  if (id !== '') console.log(text)
  else {
    for (const test of tests) {
      if (test.kind === 'check' || passed(test, tests, results)) continue
      const result = results[test.id]
      const why = result === true ? `builds on ${test.depends_on.join(', ')}` : (result?.join(': ') ?? 'not run')
      console.log(`${test.kind}  ${test.group}  ${test.id}  ${why}`)
    }
    console.log(figures(tests, results))
  }
} finally {
  for (const close of closers.toReversed()) await close()
}

async function ownEdge(): Promise<string> {
  const server = await startSuiteServer()
  closers.push(server.stop)
  const edge = await startEdge({ fast_path: !ordinary, cache: { directory: null, memory_bytes: () => 64 * 2 ** 20, disk_bytes: () => 0 } })
  closers.push(edge.close)
  await edge.toPort(server.port, 'suite.localhost')
  return `http://suite.localhost:${edge.port}`
}
