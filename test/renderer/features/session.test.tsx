import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { SignIn } from '../../../renderer/features/session/sign-in.tsx'
import { useSession } from '../../../renderer/stores/session.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
/** The requests to sign in, which are outside of the API. */
function answerSignIn(answer: () => Promise<Response>) {
  const bodies: string[] = []
  vi.stubGlobal('fetch', (address: string, options?: RequestInit) => {
    bodies.push(`${options?.method} ${address} ${String(options?.body)}`)
    return answer()
  })
  return bodies
}
const signIn = () => {
  fill('Email', ' ada@example.com ')
  fill('Password', 'secret')
  fireEvent.submit(screen.getByRole('form', { name: 'Sign in with a password' }))
}
const openLink = 'I have opened the link'

test('a user signs in with a password', async () => {
  useSession.setState({ signed_out: true })
  const { text } = renderPart(<SignIn />)
  expect(text()).not.toContain('This connection is not encrypted')
  expect(document.title).toContain('Sign in')
  const bodies = answerSignIn(() => Promise.resolve(Response.json({ session: 'session_1' })))
  signIn()
  await expect.poll(() => useSession.getState().signed_out).toBe(false)
  expect(bodies).toEqual(['POST /sign-in email=ada%40example.com&password=secret'])
  expect(localStorage.getItem('homeport.session')).toBe('session_1')
})

test('on a network without HTTPS the browser keeps a cookie instead of a session', async () => {
  localStorage.setItem('homeport.session', 'session_0')
  useSession.setState({ signed_out: true })
  renderPart(<SignIn />)
  answerSignIn(() => Promise.resolve(Response.json({})))
  signIn()
  await expect.poll(() => useSession.getState().signed_out).toBe(false)
  expect(localStorage.getItem('homeport.session')).toBeNull()
})

test.each<[string, () => Promise<Response>, string]>([
  ['a wrong password', () => Promise.resolve(problemResponse('unauthorized', 'Email or password is wrong.')), 'Email or password is wrong.'],
  [
    'no response',
    () => Promise.reject(new TypeError('Failed to fetch')),
    'Homeport is not responding. It may be starting or stopped. Start it with “homeport serve”.',
  ],
])('after %s the password is empty and has the error', async (_, answer, message) => {
  useSession.setState({ signed_out: true })
  renderPart(<SignIn />)
  answerSignIn(answer)
  signIn()
  expect((await screen.findByRole('alert')).textContent).toBe(message)
  expect(screen.getByLabelText('Password')).toHaveProperty('value', '')
  expect(screen.getByLabelText('Email')).toHaveProperty('value', 'ada@example.com')
  expect(useSession.getState().signed_out).toBe(true)
})

test('a user who opened a link enters the dashboard', async () => {
  useSession.setState({ signed_out: true })
  const { user } = renderPart(<SignIn />, { answers: { getSession: createExample(allOperations.getSession.success.json) } })
  await user.click(screen.getByRole('button', { name: openLink }))
  await expect.poll(() => useSession.getState().signed_out).toBe(false)
  await expect.poll(() => screen.getByRole('button', { name: openLink }).getAttribute('aria-busy')).toBeNull()
})

test.each([
  ['unauthorized', 'This browser is not signed in yet. Open the link that the command printed in this browser.'],
  ['forbidden', 'It is not allowed.'],
] as const)('a user who is not signed in yet is told so: %s', async (code, message) => {
  useSession.setState({ signed_out: true })
  const { user } = renderPart(<SignIn />, { answers: { getSession: problemResponse(code, 'It is not allowed.') } })
  const button = screen.getByRole('button', { name: openLink })
  await user.click(button)
  await expect.poll(() => screen.getByRole('status').textContent).toBe(message)
  await expect.poll(() => button.getAttribute('aria-busy')).toBeNull()
  expect(useSession.getState().signed_out).toBe(true)
})

test('the form is busy until the response arrives', async () => {
  renderPart(<SignIn />)
  answerSignIn(() => new Promise(() => {}))
  signIn()
  await expect.poll(() => screen.getByRole('button', { name: 'Sign in' }).getAttribute('aria-busy')).toBe('true')
})
