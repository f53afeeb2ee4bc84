/** Handlers of other instances, for the double: they answer in the contract's shapes. */
import type { Handlers } from '../../server/contract/index.ts'
import type { Remote } from '../../server/contract/remotes.ts'
import type { Context } from '../../server/features/context.ts'
import { newId } from '../../server/lib/id.ts'

const remote = (name: string): Remote => ({
  id: newId('rem'),
  name,
  origin: 'https://deploy.example.com',
  hue: 25,
  is_signed_in: true,
  keeps_token: 'session',
  created_at: '2026-01-31T12:00:00.000Z',
})

export function createRemoteHandlers(): Pick<Handlers<Context>, 'listRemotes' | 'addRemote' | 'updateRemote' | 'deleteRemote'> {
  return {
    listRemotes: async () => ({ remotes: [remote('one')] }),
    addRemote: async (_, { body }) => ({ remote: remote(body.name ?? 'deploy.example.com') }),
    updateRemote: async (_, { body }) => ({ remote: remote(body.name ?? 'one') }),
    async deleteRemote() {},
  }
}
