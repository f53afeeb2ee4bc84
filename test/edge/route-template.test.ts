import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toRouteTemplate } from '../../server/lib/route-template.ts'

test.each([
  ['/', '/'],
  ['/users/me', '/users/me'],
  ['/users/17/posts', '/users/:id/posts'],
  ['/orders/8c5f6a2e-1b3d-4e5f-8a9b-0c1d2e3f4a5b', '/orders/:id'],
  ['/projects/prj_01jx3f8q0000abcd1234567890/x', '/projects/:id/x'],
  ['/customers/cus-9s6XKzk12', '/customers/:id'],
  ['/01ARZ3NDEKTSV4RRFFQ69G5FAV', '/:id'],
  ['/sha256/9f86d081884c7d659a2feaa0c55ad015', '/sha256/:id'],
  ['/calendar/2026-01-31', '/calendar/:date'],
  ['/calendar/2026-01', '/calendar/:date'],
  ['/mail/jane%40example.com', '/mail/:email'],
  ['/mail/jane@example.com', '/mail/:email'],
  ['/verify/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N', '/verify/:token'],
  ['/share/a8B3kd93jfkL29fkslQ0', '/share/:token'],
  ['/assets/index-BxK3h2aQ.js', '/assets/index-:hash.js'],
  ['/static/main.3f2a1c9d.chunk.js', '/static/main.:hash.chunk.js'],
  ['/images/12345.png', '/images/:id.png'],
  ['/a/b/c/d/e/f/g/h/i/j/k/l', '/a/b/c/d/e/f/g/h/i/j/*'],
])('%s is %s', (path, route) => expect(toRouteTemplate(path)).toBe(route))

test.each([
  '/blog/my-long-article-about-2024-things',
  '/api/v2',
  '/robots.txt',
  '/jquery-3.7.1.min.js',
  '/favicon-32x32.png',
  '/user-settings2',
  '//x',
])('%s stays as it is', (path) => expect(toRouteTemplate(path)).toBe(path))

test('a route is bounded', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 3_000 }), (text) => {
      const route = toRouteTemplate(`/${text}`)
      expect(route.length).toBeLessThanOrEqual(200)
    }),
  )
})
