/** The form for a card is a document of its own (see card-page.tsx): a plain address, not a route. */
export function cardAddress(plan: string, interval: string): string {
  return `${import.meta.env.BASE_URL}account/card?${new URLSearchParams({ plan, interval })}`
}
