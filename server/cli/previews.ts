import type { Preview, Watching } from '../contract/previews.ts'
import { type Call, type Command, exitCodes, UsageError, words } from './command.ts'
import { ago, table } from './terminal.ts'

export const previews: Command = {
  summary: 'Lists the previews of a project, and says what a push does.',
  forms: ['previews SLUG', 'previews watch|check SLUG', 'previews pushes|branches|databases SLUG on|off'],
  options: {},
  more: [
    'pushes: whether a push to the production branch deploys it. branches: whether other branches get previews; off closes them.',
    'databases: whether each preview gets a copy of the project’s database. check looks at the repository at once.',
  ].join('\n'),
  async run(call) {
    const [first = ''] = call.words
    // One word alone is a project, whatever it is called.
    if (call.words.length < 2) return list(call, words(call, 'SLUG')[0] ?? '')
    if (first === 'watch' || first === 'check') {
      const [, slug = ''] = words(call, first, 'SLUG')
      const operation = first === 'watch' ? 'getWatching' : 'checkRepository'
      return show(call, (await call.connect().call(operation, { params: { slug } })).watching)
    }
    if (!Object.hasOwn(switches, first)) throw new UsageError(`“${first}” is none of watch, check, pushes, branches, databases.`)
    const [, slug = '', state] = words(call, first, 'SLUG', 'on|off')
    if (state !== 'on' && state !== 'off') throw new UsageError(`Say on or off after ${first} ${slug}.`)
    const body = { [switches[first as keyof typeof switches]]: state === 'on' }
    return show(call, (await call.connect().call('updateWatching', { params: { slug }, body })).watching)
  },
}

const switches = { pushes: 'deploys_pushes', branches: 'previews', databases: 'preview_databases' } as const

async function list(call: Call, slug: string): Promise<number> {
  const found = await call.connect().call('listPreviews', { params: { slug } })
  if (call.json) call.terminal.out(JSON.stringify(found))
  else if (found.previews.length === 0) call.terminal.out('No previews. A push to a branch that is not the production branch makes one.')
  else {
    const rows = found.previews.map((one) => [
      one.branch,
      one.is_cold ? `${one.status}, cold` : one.status,
      one.commit_sha?.slice(0, 8) ?? '-',
      ago(one.updated_at, call.clock.now()),
      addressOf(one),
    ])
    for (const line of table(call.terminal, ['BRANCH', 'STATUS', 'COMMIT', 'CHANGED', 'ADDRESS'], rows)) call.terminal.out(line)
  }
  return exitCodes.done
}

const addressOf = (one: Preview): string => one.url ?? `${one.host}, once it is ready`

function show(call: Call, watching: Watching): number {
  if (call.json) call.terminal.out(JSON.stringify({ watching }))
  else {
    const { state, message, checked_at } = watching
    const facts: [string, string][] = [
      ['repository', state === 'failing' ? `cannot be looked at: ${message}` : state === 'off' ? 'not watched' : 'watched'],
      ['looked at', checked_at === null ? 'not yet' : ago(checked_at, call.clock.now())],
      ['pushes', watching.deploys_pushes ? 'on: a push to the production branch deploys it' : 'off'],
      ['branches', watching.previews ? 'on: other branches get previews' : 'off'],
      ['databases', watching.preview_databases ? 'on: each preview has a copy of the database' : 'off'],
    ]
    for (const [name, value] of facts) call.terminal.out(`${name.padEnd(14)}${value}`)
  }
  return exitCodes.done
}
