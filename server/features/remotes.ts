import { Problem } from '../contract/errors.ts'
import type { Remote } from '../contract/remotes.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { RemoteCall, RemoteResponse } from '../remotes/remote-client.ts'
import { deleteRemote, findRemote, insertRemote, listRemotes, updateRemote } from '../store/remotes.ts'
import type { RemoteRow } from '../store/tables.ts'
import type { Caller, OperationContext, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export type { RemoteResponse } from '../remotes/remote-client.ts'

type RemoteHandlers = Pick<OperationHandlers, 'listRemotes' | 'addRemote' | 'updateRemote' | 'deleteRemote'>
type RemoteDeps = Pick<FeatureDeps, 'store' | 'clock' | 'remotes' | 'remoteTokens'>

const maxRemotes = 50

/** Other instances in the dashboard. Only the owner of the instance can use them. */
export function createRemoteHandlers(deps: RemoteDeps): RemoteHandlers {
  const { db } = deps.store
  const { remotes, remoteTokens } = deps
  const presentRemote = (row: RemoteRow, caller: Caller): Remote => ({
    id: row.id,
    name: row.name,
    origin: row.origin,
    hue: row.hue,
    is_signed_in: remoteTokens.has(row, caller),
    keeps_token: remoteTokens.storage,
    created_at: row.created_at,
  })
  const requireCapacity = (rows: RemoteRow[], origin: string) => {
    if (rows.some((row) => row.origin === origin)) throw remoteExists(origin)
    if (rows.length >= maxRemotes)
      throw new Problem('invalid_input', `The list already has the maximum of ${maxRemotes} instances. Remove one first.`, {
        issues: [{ path: 'url', message: 'Remove another instance first.' }],
      })
  }

  return {
    async listRemotes({ caller }) {
      return { remotes: (await db.read(listRemotes)).map((row) => presentRemote(row, caller)) }
    },

    async addRemote({ caller }, { body }) {
      const origin = remotes.parseOrigin(body.url)
      requireCapacity(await db.read(listRemotes), origin)
      await remotes.probe({ origin, token: body.token })
      const id = newId('rem')
      const row = await db.write((tx) => {
        const rows = listRemotes(tx)
        requireCapacity(rows, origin)
        const created: RemoteRow = {
          id,
          name: body.name ?? new URL(origin).host.slice(0, 60),
          origin,
          hue: body.hue ?? pickDistinctHue(rows),
          sealed_token: remoteTokens.seal({ id, origin }, body.token),
          created_at: isoTime(deps.clock.now()),
        }
        if (!insertRemote(tx, created)) throw remoteExists(origin)
        return created
      })
      remoteTokens.save(id, caller, body.token)
      return { remote: presentRemote(row, caller) }
    },

    async updateRemote({ caller }, { params, body: { token, ...change } }) {
      const found = await requireRemote(deps, params.id)
      if (token !== undefined) await remotes.probe({ origin: found.origin, token })
      const row = await db.write((tx) => {
        if (!findRemote(tx, found.id)) throw remoteNotFound()
        const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
        updateRemote(tx, found.id, { ...given, ...(token === undefined ? {} : { sealed_token: remoteTokens.seal(found, token) }) })
        return findRemote(tx, found.id) ?? found
      })
      if (token !== undefined) remoteTokens.save(row.id, caller, token)
      return { remote: presentRemote(row, caller) }
    },

    async deleteRemote(_, { params }) {
      if (!(await db.write((tx) => deleteRemote(tx, params.id)))) throw remoteNotFound()
      remoteTokens.delete(params.id)
      remotes.abortAll(params.id)
    },
  }
}

/** Calls an operation of another instance with the token of this caller. */
export type RemoteForwarder = (context: OperationContext, id: string, request: RemoteCall) => Promise<RemoteResponse>

export function createRemoteForwarder(deps: RemoteDeps): RemoteForwarder {
  return async ({ caller }, id, request) => {
    const row = await requireRemote(deps, id)
    const token = deps.remoteTokens.read(row, caller)
    if (token === undefined) throw new Problem('remote_token_refused', `There is no token for ${row.name}. Create one there and enter it here.`)
    return deps.remotes.forward({ id: row.id, origin: row.origin, token }, request)
  }
}

async function requireRemote(deps: Pick<FeatureDeps, 'store'>, id: string): Promise<RemoteRow> {
  const row = await deps.store.db.read((tx) => findRemote(tx, id))
  if (!row) throw remoteNotFound()
  return row
}

const remoteNotFound = () => new Problem('remote_not_found', 'This instance is not in the list.')
const remoteExists = (origin: string) =>
  new Problem('remote_exists', `${new URL(origin).host} is already in the list. To use another token, update the token of that entry.`)

/** The hue with the largest distance to the existing ones. */
function pickDistinctHue(rows: RemoteRow[]): number {
  const first = 25
  const candidates = Array.from({ length: 24 }, (_, index) => (first + index * 15) % 360)
  const distance = (one: number, other: number) => Math.min(Math.abs(one - other), 360 - Math.abs(one - other))
  const nearest = (hue: number) => Math.min(360, ...rows.map((row) => distance(row.hue, hue)))
  return candidates.reduce((best, hue) => (nearest(hue) > nearest(best) ? hue : best), first)
}
