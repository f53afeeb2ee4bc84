import { mailLimits, type MailCatcherStatus, type MailMessage, type MailMessageDetails } from '../contract/mail.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { newId } from '../lib/id.ts'
import type { Log } from '../lib/log.ts'
import { isSameSecret, newSecret } from '../lib/token.ts'
import {
  deleteMailMessages,
  findMailbox,
  findMailMessage,
  hasEnabledMailbox,
  insertMailbox,
  insertMailMessage,
  listMailMessageIds,
  listMailMessages,
  updateMailbox,
} from '../store/mail.ts'
import type { Sealer } from '../store/sealer.ts'
import type { Db, Tx } from '../store/store.ts'
import type { MailMessageRow } from '../store/managed-tables.ts'
import { createAppListeners, type FindHostAddress } from '../network/app-listeners.ts'
import { createMessageFiles } from './message-files.ts'
import { parseMessage, presentMessage, readAttachment, summarize } from './read-message.ts'
import { listenForMail, type SmtpHandlers } from './smtp-listener.ts'

export interface MailCatcherOptions {
  db: Db
  sealer: Sealer
  clock: Clock
  log: Log
  data_dir: string
  instance_id: string
  findHostAddress: FindHostAddress
  runtimes: readonly RuntimeName[]
}

export type MailCatcher = ReturnType<typeof createMailCatcher>

/** Parsing takes several times the memory of a message. */
const parsedAtOnce = 2

/** An SMTP server for the apps of this instance. It stores messages and has no code that sends any. */
export function createMailCatcher(options: MailCatcherOptions) {
  const { db, sealer, clock, log } = options
  const files = createMessageFiles(options.data_dir)
  const closing = new AbortController()
  const limitParsing = createConcurrencyLimit(parsedAtOnce)

  const unsealPassword = ({ project_id, sealed_password }: { project_id: string; sealed_password: Uint8Array }): string =>
    sealer.unseal(sealedColumnOf(project_id), sealed_password)

  const handlers: SmtpHandlers = {
    async authenticate(user, password) {
      const row = await db.read((tx) => findMailbox(tx, user))
      return row?.is_enabled === 1 && isSameSecret(unsealPassword(row), password) ? user : undefined
    },
    async receive({ project_id, recipients, content }) {
      const id = newId('msg')
      const bytes = await files.write(project_id, id, content)
      try {
        const source = await files.read(project_id, id)
        const summary = summarize(await parse(source ?? Buffer.alloc(0)))
        const row = { ...summary, id, project_id, bytes, recipients: JSON.stringify(recipients.slice(0, 100)), received_at: isoTime(clock.now()) }
        const dropped = await db.write((tx) => {
          insertMailMessage(tx, row)
          const old = listExcess(listMailMessages(tx, project_id))
          deleteMailMessages(tx, old)
          tx.publish({ type: 'project_changed', id: project_id })
          return old
        })
        for (const old of dropped) await files.remove(project_id, old)
      } catch (error) {
        log.warn('mail_store_failed', { project: project_id, error })
        await files.remove(project_id, id)
        throw error
      }
    },
  }
  const listeners = createAppListeners({
    ...options,
    name: 'mail',
    listen: (host, port) => listenForMail(host, port, handlers),
    notes: {
      unavailable: 'The mail catcher is not available, so this app cannot send mail.',
      cannotListen: (address) => `The mail catcher cannot listen on ${address}, so this app cannot send mail. Free the port, then deploy again.`,
    },
  })

  const parse = (source: Buffer) => limitParsing(closing.signal, () => parseMessage(source))
  const findRow = (projectId: string, id: string) => db.read((tx) => findMailMessage(tx, projectId, id))

  /** A message that a backup did not include has only a row. */
  const readSource = async (projectId: string, id: string): Promise<{ row: MailMessageRow; source: Buffer } | undefined> => {
    const row = await findRow(projectId, id)
    const source = row && (await files.read(projectId, id))
    return source && { row, source }
  }

  const deleteRows = async (projectId: string, ids: string[]): Promise<void> => {
    await db.write((tx) => {
      deleteMailMessages(tx, ids)
      tx.publish({ type: 'project_changed', id: projectId })
    })
    for (const id of ids) await files.remove(projectId, id)
  }

  return {
    /** Listens if a project uses the catcher. Failures are logged, and retried with the next deployment and every hour. */
    async start(): Promise<void> {
      const rows = await db.read((tx) => listMailMessageIds(tx))
      const known = new Set(rows.map(({ project_id, id }) => `${project_id}/${id}`))
      await files.sweep((projectId, id) => known.has(`${projectId}/${id}`))
      const lost: string[] = []
      for (const { project_id, id } of rows) if (!(await files.has(project_id, id))) lost.push(id)
      if (lost.length > 0) await db.write((tx) => deleteMailMessages(tx, lost))
      await this.listen()
    },

    async listen(): Promise<void> {
      if (await db.read((tx) => hasEnabledMailbox(tx))) await listeners.ensureAll()
    },

    /** Turns the catcher of a project on or off, in the transaction of `change`. */
    async setEnabled<R>(projectId: string, isEnabled: boolean, change: (tx: Tx, isChanged: boolean) => R): Promise<R> {
      const result = await db.write((tx) => {
        const row = findMailbox(tx, projectId)
        if (row) updateMailbox(tx, projectId, isEnabled ? 1 : 0)
        else if (isEnabled)
          insertMailbox(tx, {
            project_id: projectId,
            is_enabled: 1,
            sealed_password: sealer.seal(sealedColumnOf(projectId), newSecret()),
            created_at: isoTime(clock.now()),
          })
        tx.publish({ type: 'project_changed', id: projectId })
        return change(tx, (row?.is_enabled === 1) !== isEnabled)
      })
      if (isEnabled) await listeners.ensureAll()
      return result
    },

    async status(projectId: string): Promise<MailCatcherStatus> {
      const row = await db.read((tx) => findMailbox(tx, projectId))
      const is_enabled = row?.is_enabled === 1
      const port = is_enabled ? listeners.port() : null
      return { is_enabled, host: port === null ? null : '127.0.0.1', port, user: projectId, unavailable: is_enabled ? listeners.failure() : null }
    },

    /** The variables for the apps of a project, or (null) its programs on this machine, and a note when they cannot reach the server. Empty while its catcher is off. */
    async variablesFor(
      projectId: string,
      runtime: RuntimeName | null,
    ): Promise<{ variables: Record<string, string>; secrets: string[]; note: string | null }> {
      const row = await db.read((tx) => findMailbox(tx, projectId))
      if (row?.is_enabled !== 1) return { variables: {}, secrets: [], note: null }
      const { host, port, note } = await listeners.ensure(runtime)
      const password = unsealPassword(row)
      const variables = {
        SMTP_URL: `smtp://${projectId}:${password}@${host}:${port}`,
        SMTP_HOST: host,
        SMTP_PORT: String(port),
        SMTP_USER: projectId,
        SMTP_PASSWORD: password,
      }
      return { variables, secrets: [password], note }
    },

    async list(projectId: string): Promise<MailMessage[]> {
      return (await db.read((tx) => listMailMessages(tx, projectId))).map(presentRow)
    },

    async show(projectId: string, id: string): Promise<MailMessageDetails | undefined> {
      const found = await readSource(projectId, id)
      return found && { ...presentRow(found.row), ...(await presentMessage(await parse(found.source))) }
    },

    async attachment(projectId: string, id: string, index: number): Promise<Buffer | undefined> {
      const found = await readSource(projectId, id)
      return found && readAttachment(await parse(found.source), index)
    },

    async source(projectId: string, id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
      return (await findRow(projectId, id)) && (await files.open(projectId, id))
    },

    /** False for an unknown message. */
    async remove(projectId: string, id: string): Promise<boolean> {
      if (!(await findRow(projectId, id))) return false
      await deleteRows(projectId, [id])
      return true
    },

    async removeAll(projectId: string): Promise<void> {
      const rows = await db.read((tx) => listMailMessages(tx, projectId))
      await deleteRows(
        projectId,
        rows.map(({ id }) => id),
      )
    },

    /** Removes the files of a deleted project. */
    forgetProject: (projectId: string): Promise<void> => files.removeProject(projectId),

    async close(): Promise<void> {
      closing.abort(new Error('Homeport is shutting down.'))
      await listeners.close()
    },
  }
}

const sealedColumnOf = (projectId: string) => ({ table: 'mailboxes', column: 'sealed_password', row: projectId })

const presentRow = ({ id, sender, recipients, subject, bytes, attachments, received_at }: MailMessageRow): MailMessage => ({
  id,
  from: sender,
  to: JSON.parse(recipients) as string[],
  subject,
  size_bytes: bytes,
  attachments,
  received_at,
})

/** The messages beyond the limits; `rows` are newest first. The newest always stays. */
function listExcess(rows: MailMessageRow[]): string[] {
  let sum = 0
  return rows
    .filter(({ bytes }, index) => {
      sum += bytes
      return index >= mailLimits.messages || (index > 0 && sum > mailLimits.project_bytes)
    })
    .map(({ id }) => id)
}
