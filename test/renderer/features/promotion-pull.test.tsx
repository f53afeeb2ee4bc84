import { QueryClient } from '@tanstack/react-query'
import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { PullFromInstance } from '../../../renderer/features/promotion/pull-from-instance.tsx'
import { type InstanceConnection, localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { usePromotions } from '../../../renderer/stores/promotions.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createRemote = (id: string, own: Partial<InstanceConnection> = {}): InstanceConnection => ({
  ...localConnection,
  cache: new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } }),
  id,
  name: id,
  origin: `https://${id}.example.com`,
  ...own,
})
const button = (name: string) => screen.getByRole('button', { name })
afterEach(() => usePromotions.setState({ promotions: [] }))

test('a project to pull is chosen by its slug', async () => {
  useConnection.setState({ connections: [localConnection, createRemote('server', { is_signed_in: false }), createRemote('cloud')] })
  const [onBack, onDone] = [vi.fn(), vi.fn()]
  const { text, user } = renderPart(<PullFromInstance onBack={onBack} onDone={onDone} />)
  expect(text()).toMatch(/^Instance on server Token required\. on cloud https:\/\/cloud\.example\.com Source project Its slug\./)
  expect(button('Next')).toHaveProperty('disabled', true)
  await user.click(button('Back'))
  expect(onBack).toHaveBeenCalledOnce()
  fireEvent.change(screen.getByLabelText('Source project'), { target: { value: ' my-shop ' } })
  await user.click(button('Next'))
  expect(onDone).toHaveBeenCalledOnce()
  expect(`${location.pathname}${location.search}`).toBe('/app/on/cloud/projects/my-shop?do=pull')
})

test('without a remote instance there is nothing to pull', () => {
  expect(renderPart(<PullFromInstance onBack={vi.fn()} onDone={vi.fn()} />).text()).toBe('')
})
