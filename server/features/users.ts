import { Problem } from '../contract/errors.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, newToken } from '../lib/token.ts'
import type { Tx } from '../store/store.ts'
import {
  addTeamMember,
  findAccount,
  findUserByEmail,
  insertUserWithAccount,
  insertToken,
  listUsersWithAccounts,
  type NewAccount,
  removeTeamMember,
  deleteUser,
  updateUser,
} from '../store/users.ts'
import type { AccountRow, UserRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { presentAccount, presentUser } from './presenters.ts'
import { listProjectIdsOfAccount } from '../store/projects.ts'

type UserHandlers = Pick<OperationHandlers, 'listUsers' | 'addUser' | 'verifyUser' | 'removeUser' | 'addTeamMember' | 'removeTeamMember'>

/** Users of the instance. The API server has checked that the caller is its owner. */
export function createUserHandlers(deps: FeatureDeps): UserHandlers {
  const { db } = deps.store
  const now = () => isoTime(deps.clock.now())

  return {
    async listUsers() {
      const users = await db.read(listUsersWithAccounts)
      return { users: users.map(({ user, account }) => ({ ...presentUser(user), account: presentAccount(account) })) }
    },

    async addUser(_context, { body }) {
      if (body.card === true && deps.billing.processor)
        throw new Problem('invalid_input', 'With a payment processor, a card cannot be set manually.', {
          issues: [{ path: 'card', message: 'Remove it. The person adds a card in the dashboard, under Account.' }],
        })
      const token = newToken()
      const account: NewAccount = {
        id: newId('acc'),
        plan: body.plan ?? 'starter',
        has_payment_method: body.card === true ? 1 : 0,
        created_at: now(),
      }
      const user: UserRow = {
        id: newId('usr'),
        account_id: account.id,
        email: body.email,
        email_verified: body.verified === false ? 0 : 1,
        is_instance_owner: 0,
        created_at: now(),
      }
      await db.write((tx) => {
        if (findUserByEmail(tx, body.email)) throw new Problem('email_taken', `A user with the email address ${body.email} already exists.`)
        insertUserWithAccount(tx, { user, account })
        insertToken(tx, {
          id: newId('tok'),
          user_id: user.id,
          kind: 'api',
          name: 'First token',
          hash: hashSecret(token),
          last4: token.slice(-4),
          last_used_at: null,
          expires_at: null,
          created_at: now(),
          scope: null,
          project_id: null,
        })
      })
      return { user: presentUser(user), account: presentAccount(account), token }
    },

    async verifyUser(_context, { params }) {
      const user = await db.write((tx) => {
        const found = requireUser(tx, params.email)
        updateUser(tx, found.id, { email_verified: 1 })
        return { ...found, email_verified: 1 as const }
      })
      return { user: presentUser(user) }
    },

    async removeUser(_context, { params }) {
      const projects = await db.write((tx) => {
        const user = requireUser(tx, params.email)
        if (user.is_instance_owner) throw new Problem('forbidden', 'The owner of the instance cannot be removed.')
        deleteUser(tx, user.id)
        return listProjectIdsOfAccount(tx, user.account_id)
      })
      for (const id of projects) await deps.deployments.removeProject(id)
    },

    async addTeamMember(_context, { body }) {
      await db.write((tx) => {
        const { account, member } = requireAccountAndMember(tx, body)
        addTeamMember(tx, account.id, member.id, now())
      })
      return { ok: true }
    },

    async removeTeamMember(_context, { body }) {
      await db.write((tx) => {
        const { account, member } = requireAccountAndMember(tx, body)
        removeTeamMember(tx, account.id, member.id)
      })
      return { ok: true }
    },
  }
}

function requireUser(tx: Tx, email: string): UserRow {
  const user = findUserByEmail(tx, email.toLowerCase())
  if (!user) throw new Problem('user_not_found', `There is no user with the email address ${email}. List all users with: homeport user list`)
  return user
}

function requireAccountAndMember(tx: Tx, body: { owner_email: string; member_email: string }): { account: AccountRow; member: UserRow } {
  const account = findAccount(tx, requireUser(tx, body.owner_email).account_id)
  if (!account) throw new Problem('user_not_found', `${body.owner_email} has no account.`)
  return { account, member: requireUser(tx, body.member_email) }
}
