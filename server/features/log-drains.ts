import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { LogDrain, LogDrainChange, logDrainOperations, NewLogDrain } from '../contract/log-drains.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { newSecret } from '../lib/token.ts'
import { defaultDrainName, displayDrainAddress, parseDrainAddress } from '../log-drains/drain-address.ts'
import type { LogDrainRow } from '../store/log-drain-tables.ts'
import { deleteLogDrain, findLogDrain, insertLogDrain, listLogDrains, updateLogDrain } from '../store/log-drains.ts'
import type { Tx } from '../store/store.ts'
import type { Caller, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

const defaultSources: LogDrain['sources'] = ['app', 'build']

export function createLogDrainHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof logDrainOperations> {
  const {
    store: { db, drains },
    sealer,
    clock,
    logDrains,
  } = deps
  const column = (row: string, name: string) => ({ table: 'log_drains', column: name, row })
  const addressOf = (row: LogDrainRow): string => sealer.unseal(column(row.id, 'sealed_address'), row.sealed_address)
  const sealHeaders = (row: string, headers: NewLogDrain['headers']): Uint8Array | null =>
    headers === undefined || headers.length === 0 ? null : sealer.seal(column(row, 'sealed_headers'), JSON.stringify(headers))

  const present = (row: LogDrainRow): LogDrain => {
    const headers =
      row.sealed_headers === null ? [] : (JSON.parse(sealer.unseal(column(row.id, 'sealed_headers'), row.sealed_headers)) as { name: string }[])
    return {
      id: row.id,
      kind: row.kind,
      name: row.name,
      address: displayDrainAddress(row.kind, addressOf(row), row.project_id),
      format: row.format,
      header_names: headers.map(({ name }) => name),
      sources: JSON.parse(row.sources) as LogDrain['sources'],
      environments: row.environments,
      is_enabled: row.is_enabled === 1,
      created_at: row.created_at,
      state: presentState(row),
    }
  }

  const presentState = ({ id, is_enabled }: LogDrainRow): LogDrain['state'] => {
    const state = drains.findState(id)
    const { delivered = 0, dropped = 0, failures = 0, last_success_at = null, last_dropped_at = null } = state ?? {}
    return {
      status: is_enabled === 0 ? 'off' : failures > 0 ? 'failing' : last_success_at === null ? 'waiting' : 'delivering',
      delivered,
      dropped,
      last_success_at,
      last_dropped_at,
      last_error: state?.last_error == null || state.last_error_at === null ? null : { at: state.last_error_at, message: state.last_error },
    }
  }

  const require = (tx: Tx, projectId: string, id: string): LogDrainRow => {
    const row = findLogDrain(tx, projectId, id)
    if (!row) throw new Problem('log_drain_not_found', 'This project has no log drain with this ID.')
    return row
  }

  /** A file takes space of this machine, so it is for those whose machine it is. */
  const requireFileAccess = (caller: Caller): void => {
    if (!caller.is_instance_owner) throw new Problem('forbidden', 'Only the owner of this instance can write logs to files. Use HTTP or syslog.')
  }

  return {
    listLogDrains: async ({ project }) => ({ log_drains: (await db.read((tx) => listLogDrains(tx, project.id))).map(present) }),

    async createLogDrain({ project, caller }, { body }) {
      const { kind, format, headers, sources = defaultSources, environments = 'all' } = body
      checkHttpOnly(kind, body)
      if (kind === 'file') requireFileAccess(caller)
      const address = parseDrainAddress(kind, body.address, caller.is_instance_owner)
      const signing_secret = kind === 'http' ? `whsec_${newSecret()}` : null
      const id = newId('drn')
      const now = isoTime(clock.now())
      const row = {
        id,
        project_id: project.id,
        kind,
        name: body.name ?? defaultDrainName(kind, address),
        sealed_address: sealer.seal(column(id, 'sealed_address'), address),
        sealed_headers: sealHeaders(id, headers),
        sealed_secret: signing_secret === null ? null : sealer.seal(column(id, 'sealed_secret'), signing_secret),
        format: format ?? ('ndjson' as const),
        sources: JSON.stringify([...new Set(sources)]),
        environments,
        is_trusted: caller.is_instance_owner ? (1 as const) : (0 as const),
        is_enabled: 1 as const,
        revision: 1,
        started_at: now,
        created_at: now,
      }
      const created = await db.write((tx) => {
        const others = listLogDrains(tx, project.id)
        if (others.length >= limits.log_drains.per_project)
          throw new Problem('too_many_log_drains', `A project can have ${limits.log_drains.per_project} log drains. Delete one that is not needed.`)
        if (kind === 'file') requireOwnFile(others, address, addressOf)
        insertLogDrain(tx, row)
        return require(tx, project.id, id)
      })
      await logDrains.reload()
      return { log_drain: present(created), signing_secret }
    },

    async updateLogDrain({ project, caller }, { params: { id }, body }) {
      const changed = await db.write((tx) => {
        const row = require(tx, project.id, id)
        checkHttpOnly(row.kind, body)
        const address = body.address === undefined ? undefined : parseDrainAddress(row.kind, body.address, caller.is_instance_owner)
        if (address !== undefined && row.kind === 'file') {
          requireFileAccess(caller)
          requireOwnFile(
            listLogDrains(tx, project.id).filter((other) => other.id !== id),
            address,
            addressOf,
          )
        }
        const { name, format, sources, environments, headers, is_enabled } = body
        updateLogDrain(tx, id, {
          revision: row.revision + 1,
          ...(name === undefined ? {} : { name }),
          ...(format === undefined ? {} : { format }),
          ...(environments === undefined ? {} : { environments }),
          ...(sources === undefined ? {} : { sources: JSON.stringify([...new Set(sources)]) }),
          // Headers are credentials of the address that they were entered for.
          ...(headers === undefined && address === undefined ? {} : { sealed_headers: sealHeaders(id, headers) }),
          ...(address === undefined
            ? {}
            : { sealed_address: sealer.seal(column(id, 'sealed_address'), address), is_trusted: caller.is_instance_owner ? 1 : 0 }),
          ...(is_enabled === undefined ? {} : { is_enabled: is_enabled ? 1 : 0 }),
          ...(is_enabled === true && row.is_enabled === 0 ? { started_at: isoTime(clock.now()) } : {}),
        })
        return require(tx, project.id, id)
      })
      await logDrains.reload()
      return { log_drain: present(changed) }
    },

    async deleteLogDrain({ project }, { params: { id } }) {
      await db.write((tx) => {
        require(tx, project.id, id)
        deleteLogDrain(tx, id)
      })
      await logDrains.reload()
      return { ok: true }
    },

    async testLogDrain({ project }, { params: { id } }) {
      const row = await db.read((tx) => require(tx, project.id, id))
      const { error, status, duration_ms } = await logDrains.test(row, project.slug)
      return { log_drain: present(row), error, status, duration_ms }
    },
  }
}

function checkHttpOnly(kind: LogDrain['kind'], body: Pick<LogDrainChange, 'headers' | 'format'>): void {
  const path = body.headers !== undefined ? 'headers' : body.format !== undefined ? 'format' : undefined
  if (kind !== 'http' && path !== undefined)
    throw new Problem('invalid_input', 'Headers and the format are only for HTTP.', { issues: [{ path, message: 'Only for HTTP.' }] })
}

/** Two drains would rotate each other's file. */
function requireOwnFile(others: LogDrainRow[], name: string, addressOf: (row: LogDrainRow) => string): void {
  if (!others.some((other) => other.kind === 'file' && addressOf(other) === name)) return
  const message = 'Another log drain of this project writes to this file. Choose another name.'
  throw new Problem('invalid_input', message, { issues: [{ path: 'address', message }] })
}
