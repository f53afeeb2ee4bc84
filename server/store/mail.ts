import { all, exists, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { MailboxRow, MailMessageRow } from './managed-tables.ts'

export const findMailbox = first((projectId: string) => tables.selectFrom('mailboxes').selectAll().where('project_id', '=', projectId))

export function insertMailbox(tx: Tx, row: MailboxRow): void {
  tx.run(tables.insertInto('mailboxes').values(row))
}

export const updateMailbox = run((projectId: string, is_enabled: 0 | 1) =>
  tables.updateTable('mailboxes').set({ is_enabled }).where('project_id', '=', projectId),
)

export const hasEnabledMailbox = exists(() => tables.selectFrom('mailboxes').select('project_id').where('is_enabled', '=', 1))

export function insertMailMessage(tx: Tx, row: Omit<MailMessageRow, 'seq'>): void {
  tx.run(tables.insertInto('mail_messages').values(row))
}

/** Newest first. */
export const listMailMessages = all((projectId: string) =>
  tables.selectFrom('mail_messages').selectAll().where('project_id', '=', projectId).orderBy('seq', 'desc'),
)

export const listMailMessageIds = all(() => tables.selectFrom('mail_messages').select(['id', 'project_id']))

export const findMailMessage = first((projectId: string, id: string) =>
  tables.selectFrom('mail_messages').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

export function deleteMailMessages(tx: Tx, ids: string[]): void {
  for (const id of ids) deleteMessage(tx, id)
}

const deleteMessage = run((id: string) => tables.deleteFrom('mail_messages').where('id', '=', id))
