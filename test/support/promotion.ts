import type { Promotion } from '../../renderer/stores/promotions.ts'

/** A promotion that runs, from this machine to another instance. */
export const createPromotion = (own: Partial<Promotion> = {}): Promotion => ({
  key: 'local my-shop',
  from: { id: 'local', name: 'Laptop', slug: 'my-shop' },
  to: { id: 'server', name: 'Server', slug: 'shop' },
  state: 'running',
  is_given_up: false,
  steps: [],
  transfer: null,
  problem: null,
  report: [],
  deployment_id: null,
  cancel() {},
  retry() {},
  ...own,
})
