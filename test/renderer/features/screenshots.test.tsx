import { cleanup, fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { DeviceFrames } from '../../../renderer/features/screenshots/device-frames.tsx'
import { Screenshot } from '../../../renderer/features/screenshots/screenshot.tsx'
import { Thumbnail } from '../../../renderer/features/screenshots/thumbnail.tsx'
import { deployment, type Deployment } from '../../../server/contract/deployments.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const url = '/v1/projects/my-shop/deployments/dpl_1/screenshot/desktop.png'
const createDeployment = (screenshots: NonNullable<Deployment['screenshots']>) => createExample(deployment, { id: 'dpl_1', screenshots })
const image = () => new Response('image', { headers: { 'content-type': 'image/png' } })
const open = (element: Parameters<typeof renderPart>[0], answer?: Response) =>
  renderPart(element, { answers: answer ? { getScreenshot: answer } : {} })
const isLoading = () => document.querySelector('.skeleton') !== null

test.each([
  ['both', { desktop: true, mobile: true }, ['my-shop on a desktop screen', 'my-shop on a phone'], false],
  ['one for a phone', { desktop: false, mobile: true }, ['my-shop on a phone'], false],
  ['one for a desktop', { desktop: true, mobile: false }, ['my-shop on a desktop screen'], false],
  ['none', { desktop: false, mobile: false }, [], true],
])('a deployment with screenshots: %s', async (_, screenshots, names, isEmpty) => {
  open(<DeviceFrames slug="my-shop" deployment={createDeployment(screenshots)} address={null} />, image())
  await expect.poll(() => screen.queryAllByRole('img').map((one) => one.getAttribute('alt'))).toEqual(names)
  expect(screen.queryByText('No screenshot yet') !== null).toBe(isEmpty)
  expect(screen.queryByRole('link')).toBeNull()
})

test.each([
  ['https://my-shop.example.com', 'https://my-shop.example.com/'],
  ['javascript:alert(1)', undefined],
])('a click on the frames opens %s', (address, href) => {
  open(<DeviceFrames slug="my-shop" deployment={createDeployment({ desktop: false, mobile: false })} address={address} />)
  expect(screen.queryByRole('link', { name: 'Open my-shop' })?.getAttribute('href')).toBe(href)
})

test('a screenshot is loading until its image is shown', async () => {
  open(<Screenshot url={url} variant="mobile" alt="Shop" />, image())
  expect(isLoading()).toBe(true)
  const shown = await screen.findByAltText('Shop')
  expect([shown.getAttribute('width'), shown.getAttribute('height')]).toEqual(['390', '844'])
  expect(isLoading()).toBe(true)
  fireEvent.load(shown)
  expect(isLoading()).toBe(false)
  expect(screen.queryByAltText('Shop')).not.toBeNull()
})

test.each<[string, string | null, Response | undefined]>([
  ['without an address', null, undefined],
  ['that cannot be loaded', url, problemResponse('screenshot_not_found', 'There is none.')],
])('a screenshot %s is empty', async (_, address, answer) => {
  open(<Screenshot url={address} variant="desktop" alt="Shop" />, answer)
  await expect.poll(isLoading).toBe(false)
  expect(screen.queryByAltText('Shop')).toBeNull()
  expect(document.querySelector('[aria-hidden=true]')).not.toBeNull()
})

test('an image that is damaged is empty', async () => {
  open(<Screenshot url={url} variant="desktop" alt="Shop" />, image())
  fireEvent.error(await screen.findByAltText('Shop'))
  expect(screen.queryByAltText('Shop')).toBeNull()
  expect(isLoading()).toBe(false)
})

test('an image is released when its part is removed', async () => {
  const revoke = vi.spyOn(URL, 'revokeObjectURL')
  open(<Screenshot url={url} variant="desktop" alt="Shop" />, image())
  const source = (await screen.findByAltText('Shop')).getAttribute('src')
  cleanup()
  expect(revoke.mock.calls).toEqual([[source]])
  revoke.mockRestore()
})

test.each([
  ['a screenshot', createDeployment({ desktop: true, mobile: false }), true],
  ['no screenshot', createDeployment({ desktop: false, mobile: false }), false],
  ['no deployment', null, false],
])('a thumbnail of %s', async (_, shown, hasImage) => {
  open(<Thumbnail slug="my-shop" deployment={shown} />, image())
  await expect.poll(() => document.querySelector('img') !== null).toBe(hasImage)
})
