/** The subset of Stripe's browser API that is used here: https://docs.stripe.com/js */
interface Stripe {
  elements(options: { clientSecret: string; appearance: { theme: 'stripe' | 'night' } }): {
    create(type: 'payment'): { mount(container: HTMLElement): void; destroy(): void; on(event: 'ready' | 'loaderror', tell: () => void): void }
  }
  confirmSetup(options: {
    elements: unknown
    redirect: 'if_required'
    confirmParams: { return_url: string }
  }): Promise<{ error?: { message?: string } }>
}

declare global {
  interface Window {
    Stripe?: (publishableKey: string) => Stripe
  }
}

export interface StripeForm {
  /** Saves the card. Returns null on success, otherwise the processor's error message. May redirect to a bank, which returns to `returnUrl`. */
  save(returnUrl: string): Promise<string | null>
  close(): void
}

// Stripe requires its script to be loaded from this URL.
const scriptUrl = 'https://js.stripe.com/v3/'

/** Loads Stripe's script on demand and mounts its form. */
export async function openStripeForm(container: HTMLElement, publishableKey: string, clientSecret: string): Promise<StripeForm> {
  await loadStripeScript()
  const stripe = window.Stripe?.(publishableKey)
  if (!stripe) throw new Error('The payment processor’s script did not start. Reload the page.')
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  const theme = document.documentElement.dataset.theme ?? (isDark ? 'dark' : 'light')
  const elements = stripe.elements({ clientSecret, appearance: { theme: theme === 'dark' ? 'night' : 'stripe' } })
  const form = elements.create('payment')
  await new Promise<void>((resolve, reject) => {
    form.on('ready', resolve)
    form.on('loaderror', () =>
      reject(new Error('The payment form did not load. Check that this machine can reach the payment processor, then reload the page.')),
    )
    form.mount(container)
  })
  return {
    async save(returnUrl) {
      const { error } = await stripe.confirmSetup({ elements, redirect: 'if_required', confirmParams: { return_url: returnUrl } })
      return error ? (error.message ?? 'The card was declined. Try another card.') : null
    },
    close: () => form.destroy(),
  }
}

let scriptLoading: Promise<void> | undefined

function loadStripeScript(): Promise<void> {
  scriptLoading ??= new Promise<void>((resolve, reject) => {
    const element = document.createElement('script')
    element.src = scriptUrl
    element.addEventListener('load', () => resolve())
    element.addEventListener('error', () => {
      element.remove()
      scriptLoading = undefined
      reject(new Error('The payment processor’s script could not be loaded. Check that this machine can reach js.stripe.com, then reload the page.'))
    })
    document.head.append(element)
  })
  return scriptLoading
}
