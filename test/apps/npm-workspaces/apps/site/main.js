import { message } from '@homeport-test/message'

document.querySelector('h1').textContent = message
