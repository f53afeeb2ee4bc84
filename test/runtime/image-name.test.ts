import { describe, expect, test } from 'vitest'
import { getRegistryHost, hasMovingTag, isOfficialImage, normalizeRegistryHost } from '../../server/lib/image-name.ts'

describe('the registry of an image', () => {
  test.each([
    ['redis:7', 'docker.io'],
    ['team/app', 'docker.io'],
    ['docker.io/library/redis', 'docker.io'],
    ['index.docker.io/team/app', 'docker.io'],
    ['ghcr.io/team/app:1', 'ghcr.io'],
    ['GHCR.io/team/app', 'ghcr.io'],
    ['localhost/app', 'localhost'],
    ['127.0.0.1:5000/app@sha256:0', '127.0.0.1:5000'],
    // No login of ghcr.io is sent to these.
    ['ghcr.io.evil.example/team/app', 'ghcr.io.evil.example'],
    ['ghcr.io:5000/team/app', 'ghcr.io:5000'],
    ['ghcr.io@evil.example/app', 'ghcr.io@evil.example'],
    ['evil.example/ghcr.io/app', 'evil.example'],
    ['ghcr/io/app', 'docker.io'],
    ['Evil/app', 'evil'],
  ])('%s: %s', (image, host) => {
    expect(getRegistryHost(image)).toBe(host)
  })

  test.each([
    ['https://index.docker.io/v1/', 'docker.io'],
    ['registry-1.docker.io', 'docker.io'],
    ['https://ghcr.io/v2/', 'ghcr.io'],
    [' Registry.Example:5000 ', 'registry.example:5000'],
    ['[::1]:5000', '[::1]:5000'],
    ['user@ghcr.io', undefined],
    ['ghcr.io\r\nX: y', undefined],
    ['', undefined],
    ['-a.example', undefined],
  ])('accepts %j from a user', (text, host) => {
    expect(normalizeRegistryHost(text)).toBe(host)
  })

  test('recognizes moving tags, and images that everybody can pull', () => {
    expect(['redis', 'app:latest', 'x.io:5000/app', 'app:stable'].map(hasMovingTag)).toEqual([true, true, true, true])
    expect(['redis:7', 'app:v1', 'app@sha256:ab', 'app:latest@sha256:ab'].map(hasMovingTag)).toEqual([false, false, false, false])
    expect(['redis:7', 'docker.io/library/redis', 'library/redis'].map(isOfficialImage)).toEqual([true, true, true])
    expect(['team/redis', 'ghcr.io/redis', 'localhost/redis'].map(isOfficialImage)).toEqual([false, false, false])
  })
})
