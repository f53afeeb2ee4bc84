import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'

/** Where the card of an account elsewhere is given: in its own dashboard, for no other document may hold the form of its processor. null: here. */
export function useRemoteCardUrl(): string | null {
  return useConnection(({ current }) => (current.id === localInstanceId ? null : `${current.origin}/app/account?at=plan`))
}

/** The form for a card is a document of its own (see card-page.tsx): a plain address, not a route. */
export function cardUrl(plan: string, interval: string): string {
  return `${import.meta.env.BASE_URL}account/card?${new URLSearchParams({ plan, interval })}`
}
