import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'

/** URL of the card form of a remote account: its own dashboard, because no other document may embed its processor's form. null: here. */
export function useRemoteCardUrl(): string | null {
  return useConnection(({ current }) => (current.id === localInstanceId ? null : `${current.origin}/app/account?at=plan`))
}

/** The card form is a separate document (see card-page.tsx), so this is a plain URL and not a route. */
export function cardUrl(plan: string, interval: string): string {
  return `${import.meta.env.BASE_URL}account/card?${new URLSearchParams({ plan, interval })}`
}
