import { Problem } from '../contract/errors.ts'
import type { Handlers } from '../contract/index.ts'
import type { Remote } from '../contract/remotes.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Asking, Told } from '../remote/remotes.ts'
import { deleteRemote, findRemote, insertRemote, listRemotes, updateRemote } from '../store/remotes.ts'
import type { RemoteRow } from '../store/tables.ts'
import type { Caller, Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export type { Told } from '../remote/remotes.ts'

type RemoteHandlers = Pick<Handlers<Context>, 'listRemotes' | 'addRemote' | 'updateRemote' | 'deleteRemote'>
type RemoteDeps = Pick<FeatureDeps, 'store' | 'clock' | 'remotes' | 'remoteTokens'>

const maxRemotes = 50

/** Other instances that the dashboard shows. They belong to the instance, so its owner alone has them. */
export function createRemoteHandlers(deps: RemoteDeps): RemoteHandlers {
  const { db } = deps.store
  const { remotes, remoteTokens } = deps
  const present = (row: RemoteRow, caller: Caller): Remote => ({
    id: row.id,
    name: row.name,
    origin: row.origin,
    hue: row.hue,
    is_signed_in: remoteTokens.isHeld(row, caller),
    keeps_token: remoteTokens.keeps,
    created_at: row.created_at,
  })
  const room = (rows: RemoteRow[], origin: string) => {
    if (rows.some((row) => row.origin === origin)) throw there(origin)
    if (rows.length >= maxRemotes)
      throw new Problem('invalid_input', `There are ${maxRemotes} instances in the list, and no room for more. Remove one first.`, {
        issues: [{ path: 'url', message: 'Remove another instance first.' }],
      })
  }

  return {
    async listRemotes({ caller }) {
      return { remotes: (await db.read(listRemotes)).map((row) => present(row, caller)) }
    },

    async addRemote({ caller }, { body }) {
      const origin = remotes.readOrigin(body.url)
      room(await db.read(listRemotes), origin)
      await remotes.probe({ origin, token: body.token })
      const id = newId('rem')
      const row = await db.write((tx) => {
        const rows = listRemotes(tx)
        room(rows, origin)
        const made: RemoteRow = {
          id,
          name: body.name ?? new URL(origin).host.slice(0, 60),
          origin,
          hue: body.hue ?? freeHue(rows),
          sealed_token: remoteTokens.seal({ id, origin }, body.token),
          created_at: isoTime(deps.clock.now()),
        }
        if (!insertRemote(tx, made)) throw there(origin)
        return made
      })
      remoteTokens.hold(id, caller, body.token)
      return { remote: present(row, caller) }
    },

    async updateRemote({ caller }, { params, body: { token, ...change } }) {
      const found = await remoteOf(deps, params.id)
      if (token !== undefined) await remotes.probe({ origin: found.origin, token })
      const row = await db.write((tx) => {
        if (!findRemote(tx, found.id)) throw notFound()
        const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
        updateRemote(tx, found.id, { ...given, ...(token === undefined ? {} : { sealed_token: remoteTokens.seal(found, token) }) })
        return findRemote(tx, found.id) ?? found
      })
      if (token !== undefined) remoteTokens.hold(row.id, caller, token)
      return { remote: present(row, caller) }
    },

    async deleteRemote(_, { params }) {
      if (!(await db.write((tx) => deleteRemote(tx, params.id)))) throw notFound()
      remoteTokens.forget(params.id)
      remotes.endAll(params.id)
    },
  }
}

/** A call of an operation of another instance, with the token that is held for this caller. */
export type Passage = (context: Context, id: string, asking: Asking) => Promise<Told>

export function createPassage(deps: RemoteDeps): Passage {
  return async ({ caller }, id, asking) => {
    const row = await remoteOf(deps, id)
    const token = deps.remoteTokens.read(row, caller)
    if (token === undefined) throw new Problem('remote_token_refused', `There is no token for ${row.name} at hand. Make one there, and give it here.`)
    return deps.remotes.forward({ id: row.id, origin: row.origin, token }, asking)
  }
}

async function remoteOf(deps: Pick<FeatureDeps, 'store'>, id: string): Promise<RemoteRow> {
  const row = await deps.store.db.read((tx) => findRemote(tx, id))
  if (!row) throw notFound()
  return row
}

const notFound = () => new Problem('remote_not_found', 'There is no such instance in the list.')
const there = (origin: string) =>
  new Problem('remote_exists', `${new URL(origin).host} is in the list already. Give that one a new token, if it needs one.`)

/** The colour that is furthest from those that are taken, so that two instances are told apart at a glance. */
function freeHue(rows: RemoteRow[]): number {
  const first = 25
  const candidates = Array.from({ length: 24 }, (_, index) => (first + index * 15) % 360)
  const distance = (one: number, other: number) => Math.min(Math.abs(one - other), 360 - Math.abs(one - other))
  const nearest = (hue: number) => Math.min(360, ...rows.map((row) => distance(row.hue, hue)))
  return candidates.reduce((best, hue) => (nearest(hue) > nearest(best) ? hue : best), first)
}
