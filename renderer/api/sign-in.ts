import { useMutation } from '@tanstack/react-query'
import { type ApiError, readError } from '../../server/client/api-error.ts'
import { unreachableError } from '../lib/api-error.ts'
import { localConnection } from '../stores/connection.ts'
import { useSession } from '../stores/session.ts'
import { createMutationHook } from './mutation.ts'
import { storeSession } from './session.ts'

/** Signs in at the instance that served the page. */
export function useSignIn() {
  return useMutation<void, ApiError, { email: string; password: string }>({ mutationFn: signIn })
}

async function signIn({ email, password }: { email: string; password: string }): Promise<void> {
  const response = await fetch('/sign-in', {
    method: 'POST',
    redirect: 'error',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ email, password }),
  }).catch((error: unknown) => {
    throw unreachableError(error)
  })
  if (!response.ok) throw await readError(response)
  const { session } = (await response.json()) as { session?: string }
  storeSession(session)
}

/** Throws an ApiError if this browser is not signed in. */
export async function requireSession(): Promise<void> {
  await localConnection.client.call('getSession', {})
}

/** Signs this browser out of the instance that served the page. */
export const useSignOut = createMutationHook(
  'signOut',
  () => {
    storeSession(undefined)
    useSession.getState().setSignedOut(true)
  },
  localConnection,
)
