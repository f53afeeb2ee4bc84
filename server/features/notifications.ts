import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import { defaultNotificationRules } from '../contract/notification-defaults.ts'
import type {
  accountNotificationOperations,
  NotificationDelivery,
  notificationOperations,
  NotificationRules,
  NotificationTarget,
} from '../contract/notifications.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { newSecret } from '../lib/token.ts'
import { queueNotification } from '../notifications/outbox.ts'
import { testMessage } from '../notifications/payload.ts'
import { rulesOf } from '../notifications/record-events.ts'
import { displayAddress, parseTargetAddress } from '../notifications/target-address.ts'
import { isTeamMember } from '../store/invitations.ts'
import type { NotificationTargetRow } from '../store/notification-tables.ts'
import * as rows from '../store/notifications.ts'
import { paginate } from '../store/pagination.ts'
import { findProject, findProjectBySlug } from '../store/projects.ts'
import type { Tx } from '../store/store.ts'
import type { ProjectRow } from '../store/tables.ts'
import { projectNotFound } from './access.ts'
import type { Caller, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { parseCursor } from './projects.ts'

type NotificationHandlers = Pick<OperationHandlers, keyof typeof notificationOperations | keyof typeof accountNotificationOperations>
type PartialRules = { [Name in keyof NotificationRules]?: NotificationRules[Name] | undefined }

export function createNotificationHandlers(deps: FeatureDeps): NotificationHandlers {
  const targets = createTargetFunctions(deps)
  const ofProject = (project: ProjectRow): rows.NotificationScope => ({ account_id: project.account_id, project_id: project.id })
  const ofAccount = ({ account_id }: Caller): rows.NotificationScope => ({ account_id, project_id: null })

  return {
    listNotificationTargets: async ({ project }) => targets.list(ofProject(project)),
    createNotificationTarget: async ({ project, caller }, { body }) => targets.create(caller, ofProject(project), body),
    updateNotificationTarget: async ({ project, caller }, { params, body }) => targets.update(caller, ofProject(project), params.id, body),
    deleteNotificationTarget: async ({ project }, { params }) => targets.remove(ofProject(project), params.id),
    testNotificationTarget: async ({ project }, { params }) => targets.test(ofProject(project), params.id),
    listNotificationDeliveries: async ({ project }, { query }) => targets.listDeliveries(ofProject(project), query),
    redeliverNotification: async ({ project }, { params }) => targets.redeliver(ofProject(project), params.id),
    listAccountNotificationTargets: async ({ caller }) => targets.list(ofAccount(caller)),
    createAccountNotificationTarget: async ({ caller }, { body }) => targets.create(caller, ofAccount(caller), body),
    updateAccountNotificationTarget: async ({ caller }, { params, body }) => targets.update(caller, ofAccount(caller), params.id, body),
    deleteAccountNotificationTarget: async ({ caller }, { params }) => targets.remove(ofAccount(caller), params.id),
    testAccountNotificationTarget: async ({ caller }, { params }) => targets.test(ofAccount(caller), params.id),
    listAccountNotificationDeliveries: async ({ caller }, { query }) => targets.listDeliveries(ofAccount(caller), query),
    redeliverAccountNotification: async ({ caller }, { params }) => targets.redeliver(ofAccount(caller), params.id),
  }
}

interface NewTarget {
  type: NotificationTarget['type']
  address: string
  name?: string | undefined
  rules?: PartialRules | undefined
  projects?: string[] | null | undefined
}

const noMailServer = 'No email is sent, because this instance has no mail server. Set HOMEPORT_SMTP_URL and restart Homeport.'

function createTargetFunctions({ store: { db }, sealer, clock, mail, instance }: FeatureDeps) {
  const outbox = () => ({ now: clock.now(), dashboard_url: instance().dashboard_url })
  const present = (tx: Tx, row: NotificationTargetRow): NotificationTarget => ({
    id: row.id,
    type: row.type,
    name: row.name,
    address: displayAddress(row.type, sealer.unseal({ table: 'notification_targets', column: 'sealed_address', row: row.id }, row.sealed_address)),
    rules: rulesOf(row),
    projects: row.project_ids === null ? null : (JSON.parse(row.project_ids) as string[]).flatMap((id) => findProject(tx, id)?.slug ?? []),
    is_enabled: row.is_enabled === 1,
    created_at: row.created_at,
    last_delivery: rows.findLastDelivery(tx, row.id) ?? null,
  })

  return {
    list: (scope: rows.NotificationScope) =>
      db.read((tx) => ({
        targets: rows.listNotificationTargets(tx, scope).map((row) => present(tx, row)),
        can_send_email: mail.is_enabled,
      })),

    async create(caller: Caller, scope: rows.NotificationScope, { type, address: text, name, rules, projects }: NewTarget) {
      const address = parseTargetAddress(type, text, caller.is_instance_owner)
      const signing_secret = type === 'webhook' ? `whsec_${newSecret()}` : null
      const id = newId('ntt')
      const column = (name: string) => ({ table: 'notification_targets', column: name, row: id })
      const row = {
        id,
        ...scope,
        type,
        name: name ?? (type === 'email' ? address : new URL(address).host),
        sealed_address: sealer.seal(column('sealed_address'), address),
        sealed_secret: signing_secret === null ? null : sealer.seal(column('sealed_secret'), signing_secret),
        is_trusted: caller.is_instance_owner ? (1 as const) : (0 as const),
        rules: JSON.stringify(checkRules(caller, scope, defaultNotificationRules, rules)),
        is_enabled: 1 as const,
        created_at: isoTime(clock.now()),
      }
      return db.write((tx) => {
        if (rows.listNotificationTargets(tx, scope).length >= limits.notification_targets) throw tooManyTargets()
        if (type === 'email' && !caller.is_instance_owner) requireTeamAddress(tx, scope, address)
        rows.insertNotificationTarget(tx, { ...row, project_ids: findProjectIds(tx, scope, projects) })
        const created = requireTarget(tx, scope, id)
        return { target: present(tx, created), signing_secret, warning: type === 'email' && !mail.is_enabled ? noMailServer : null }
      })
    },

    update: (
      caller: Caller,
      scope: rows.NotificationScope,
      id: string,
      { name, rules, projects, is_enabled }: Partial<Pick<NewTarget, 'name' | 'rules' | 'projects'>> & { is_enabled?: boolean | undefined },
    ) =>
      db.write((tx) => {
        const row = requireTarget(tx, scope, id)
        rows.updateNotificationTarget(tx, id, {
          ...(name === undefined ? {} : { name }),
          ...(rules === undefined ? {} : { rules: JSON.stringify(checkRules(caller, scope, rulesOf(row), rules)) }),
          ...(projects === undefined ? {} : { project_ids: findProjectIds(tx, scope, projects) }),
          ...(is_enabled === undefined ? {} : { is_enabled: is_enabled ? 1 : 0 }),
        })
        if (rules !== undefined || is_enabled === true) rows.deleteIncidents(tx, id)
        return { target: present(tx, requireTarget(tx, scope, id)) }
      }),

    remove: (scope: rows.NotificationScope, id: string) =>
      db.write((tx) => {
        requireTarget(tx, scope, id)
        rows.deleteNotificationTarget(tx, id)
        return { ok: true }
      }),

    test: (scope: rows.NotificationScope, id: string) =>
      db.write((tx) => {
        const target = requireTarget(tx, scope, id)
        const project = scope.project_id === null ? null : (findProject(tx, scope.project_id) ?? null)
        queueNotification(tx, target, testMessage(project), newId('evt'), outbox())
        const [delivery] = rows.listNotificationDeliveries(tx, scope, { before: undefined, limit: 1 })
        if (!delivery) throw deliveryNotFound()
        return { delivery: presentDelivery(tx, delivery) }
      }),

    async listDeliveries(scope: rows.NotificationScope, query: { limit?: number | undefined; cursor?: string | undefined }) {
      const limit = query.limit ?? limits.page.default
      const list = `notifications ${scope.project_id ?? scope.account_id}`
      return db.read((tx) => {
        const before = parseCursor(list, query.cursor)
        const page = paginate(list, rows.listNotificationDeliveries(tx, scope, { before, limit: limit + 1 }), limit)
        return { deliveries: page.rows.map((row) => presentDelivery(tx, row)), next_cursor: page.next_cursor }
      })
    },

    redeliver: (scope: rows.NotificationScope, id: string) =>
      db.write((tx) => {
        if (!rows.findNotificationDelivery(tx, scope, id)) throw deliveryNotFound()
        rows.requeueDelivery(tx, id, isoTime(clock.now()), limits.notifications.attempts)
        tx.publish({ type: 'notification_queued' })
        const delivery = rows.findNotificationDelivery(tx, scope, id)
        if (!delivery) throw deliveryNotFound()
        return { delivery: presentDelivery(tx, delivery) }
      }),
  }
}

function requireTarget(tx: Tx, scope: rows.NotificationScope, id: string): NotificationTargetRow {
  const row = rows.findNotificationTarget(tx, scope, id)
  if (!row)
    throw new Problem(
      'notification_target_not_found',
      scope.project_id === null
        ? 'Your account has no notification target with this ID. If it is the target of a project, name the project (--project SLUG).'
        : 'This project has no notification target with this ID. Check the ID.',
    )
  return row
}

const deliveryNotFound = () => new Problem('notification_delivery_not_found', 'There is no notification with this ID. They are kept for 30 days.')

const tooManyTargets = () =>
  new Problem('too_many_targets', `There can be ${limits.notification_targets} notification targets here. Delete one that is not needed.`)

function checkRules(caller: Caller, { project_id }: rows.NotificationScope, before: NotificationRules, change: PartialRules | undefined) {
  const rules = { ...before, ...change }
  if ((rules.disk || rules.certificate) && (project_id !== null || !caller.is_instance_owner))
    throw new Problem(
      'invalid_input',
      'The rules disk and certificate are about the instance, so only its owner can set them, for the whole account.',
      {
        issues: [{ path: rules.disk ? 'rules.disk' : 'rules.certificate', message: 'Only for targets of the instance owner’s account.' }],
      },
    )
  return rules
}

/** An address outside of the team would make the instance send mail to anyone. */
function requireTeamAddress(tx: Tx, { account_id }: rows.NotificationScope, address: string): void {
  if (isTeamMember(tx, account_id, address)) return
  const message = 'Email goes only to members of the team. Use the email address of one of them.'
  throw new Problem('invalid_input', message, { issues: [{ path: 'address', message }] })
}

/** The IDs of chosen projects as JSON; null for all. */
function findProjectIds(tx: Tx, { account_id, project_id }: rows.NotificationScope, slugs: string[] | null | undefined): string | null {
  if (slugs === undefined || slugs === null || project_id !== null) return null
  const ids = slugs.map((slug) => {
    const project = findProjectBySlug(tx, slug)
    if (project?.account_id !== account_id) throw projectNotFound()
    return project.id
  })
  return JSON.stringify([...new Set(ids)])
}

const presentDelivery = (tx: Tx, row: rows.DeliveryView): NotificationDelivery => ({
  id: row.id,
  target_id: row.target_id,
  event: row.event,
  project: row.project_slug,
  title: (JSON.parse(row.payload) as { title: string }).title,
  status: row.status,
  attempts: rows.listAttempts(tx, row.id).map(({ number, at, status, duration_ms, error }) => ({ number, at, status, duration_ms, error })),
  next_attempt_at: row.next_attempt_at,
  created_at: row.created_at,
})
