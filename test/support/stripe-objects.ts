/** The objects and errors of the Stripe fake, and the parsing of its requests. */
export type Json = Record<string, unknown>

export interface Customer {
  id: string
  email: string | null
  metadata: Record<string, string>
  default_payment_method: string | null
}

export interface PaymentMethod {
  id: string
  customer: string | null
  brand: string
  last4: string
  created: number
}

export interface SetupIntent {
  id: string
  customer: string
  client_secret: string
  status: 'requires_payment_method' | 'succeeded'
  payment_method: string | null
  usage: string
  created: number
}

export interface Subscription {
  id: string
  customer: string
  status: string
  item: string
  price: string
  created: number
  period_end: number
  cancel_at_period_end: boolean
}

export class StripeApiError extends Error {
  readonly status: number
  readonly body: Json
  constructor(status: number, type: string, message: string, code: string | undefined) {
    super(message)
    this.status = status
    this.body = { error: { type, message, ...(code === undefined ? {} : { code }) } }
  }
}

export const createStripeError = (status: number, type: string, message: string, code?: string) => new StripeApiError(status, type, message, code)

export const listPage = <T>(rows: T[], show: (row: T) => Json): Json => ({ object: 'list', has_more: false, data: rows.map(show) })

/** `expand[0]=..`, `lookup_keys[0]=..`. */
export const formList = (form: URLSearchParams, name: string) => [...form].filter(([key]) => key.startsWith(`${name}[`)).map(([, value]) => value)

export const formObject = (form: URLSearchParams, name: string) =>
  Object.fromEntries([...form].flatMap(([key, value]) => (key.startsWith(`${name}[`) ? [[key.slice(name.length + 1, -1), value]] : [])))
