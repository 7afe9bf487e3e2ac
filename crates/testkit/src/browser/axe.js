// Looks at the page as it is shown and returns what keeps somebody from using it: [{ rule, place, what, times }].
(() => {
    'use strict';
    const found = new Map();
    const all = (selector, root = document) => [...root.querySelectorAll(selector)];

    // A selector that a person recognises: the element and up to two around it.
    const place = element => {
        const parts = [];
        for (let at = element; at && parts.length < 3; at = at.parentElement) {
            const classes = [...at.classList].slice(0, 2).map(name => '.' + name).join('');
            parts.unshift(at.localName + (at.id ? '#' + at.id : classes));
            if (at.id) break;
        }
        return parts.join(' > ');
    };
    const report = (rule, element, what) => {
        const where = place(element);
        // Places that differ only by a number, as those of lines do, are told once.
        const key = [rule, where.replace(/\d+/g, '0'), what].join('\n');
        const finding = found.get(key) ?? { rule, place: where, what, times: 0 };
        finding.times += 1;
        found.set(key, finding);
    };

    const shown = element =>
        element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]');
    const silent = element => element.closest('[aria-hidden=true]') !== null;
    // Text that only screen readers get stands in a box of at most one pixel, at whatever depth; what is known is kept.
    const tinies = new Map([[null, false]]);
    const tiny = element => {
        const unknown = [];
        let at = element;
        for (; !tinies.has(at); at = at.parentElement) unknown.push(at);
        let within = tinies.get(at);
        for (const inner of unknown.reverse()) {
            const { width, height } = inner.getBoundingClientRect();
            within ||= (width <= 1 || height <= 1) && getComputedStyle(inner).overflow !== 'visible';
            tinies.set(inner, within);
        }
        return within;
    };

    // The name that a screen reader says.
    const attribute = (element, name) => (element.getAttribute(name) ?? '').trim();
    const words = root => {
        const said = [];
        const skip = node =>
            node !== root && node.nodeType === Node.ELEMENT_NODE &&
            (node.getAttribute('aria-hidden') === 'true' || !node.checkVisibility({ visibilityProperty: true }))
                ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, skip);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            if (node.nodeType === Node.TEXT_NODE) said.push(node.data);
            else said.push(attribute(node, 'aria-label'), attribute(node, 'alt'));
        }
        // The title of a drawing is not rendered, yet it is its name.
        for (const title of all('svg > title', root)) said.push(title.textContent);
        if (root.localName === 'svg') said.push(root.querySelector(':scope > title')?.textContent ?? '');
        return said.join('').trim();
    };
    const referred = (element, name) => attribute(element, name).split(/\s+/).filter(Boolean);
    const labelled = element =>
        referred(element, 'aria-labelledby').map(id => document.getElementById(id)?.textContent ?? '').join(' ').trim() ||
        attribute(element, 'aria-label') ||
        [...(element.labels ?? [])].map(words).join(' ').trim() ||
        attribute(element, 'title');
    const named = element => {
        if (labelled(element)) return true;
        if (element.matches('input[type=submit], input[type=reset]')) return true;
        if (element.matches('input[type=button]')) return element.value.trim() !== '';
        if (element.matches('input, select, textarea')) return attribute(element, 'alt') !== '';
        return words(element) !== '';
    };

    const checkNames = () => {
        const field = 'input:not([type=submit], [type=button], [type=reset], [type=image]), select, textarea';
        const parts = ['button', 'link', 'option', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'checkbox', 'radio', 'switch',
            'treeitem'].map(role => `[role=${role}]`);
        const interactive = ['a[href], button, input, select, textarea, summary, [tabindex]', ...parts].join();
        for (const element of all(interactive)) {
            if (!shown(element) || element.matches('input[type=hidden]')) continue;
            const focusable = element.tabIndex >= 0;
            if (silent(element)) {
                if (focusable) report('hidden', element, 'can have the focus, but is hidden from screen readers');
                continue;
            }
            // A place that only scripts give the focus to needs no name unless it plays a part.
            const plain = element.matches('[tabindex]:not(a, button, input, select, textarea, summary, [role])');
            if (named(element) || (plain && !focusable)) continue;
            if (element.matches(field)) report('label', element, 'has no label');
            else report('name', element, 'has no name that can be said');
        }
        for (const element of all('img:not([alt]), [role=img], input[type=image]')) {
            if (!shown(element) || silent(element) || element.matches('[role=presentation], [role=none]')) continue;
            const alt = attribute(element, 'alt') || labelled(element) || words(element);
            if (!alt) report('alt', element, 'is a picture without words for it');
        }
    };

    const checkStructure = () => {
        const root = document.documentElement;
        if (!attribute(root, 'lang')) report('lang', root, 'does not say its language');
        if (!document.title.trim()) report('title', root, 'has no title');
        const mains = all('main, [role=main]').filter(shown);
        // Behind what takes the whole screen, nothing is there for anybody.
        const behind = all('[role=dialog][aria-modal=true]').some(shown);
        if (mains.length !== 1 && !behind) report('main', root, `has ${mains.length} main parts instead of one`);

        const ids = new Map();
        for (const element of all('[id]')) {
            ids.set(element.id, (ids.get(element.id) ?? 0) + 1);
            if (!element.id.trim()) report('id', element, 'has an empty id');
            else if (ids.get(element.id) === 2) report('id', element, 'has an id that occurs more than once');
        }
        for (const element of all('[tabindex]')) {
            if (element.tabIndex > 0) report('tabindex', element, 'has a place of its own in the order of the focus');
        }
        let level = 1;
        for (const heading of all('h1, h2, h3, h4, h5, h6, [role=heading]')) {
            if (!shown(heading) || silent(heading)) continue;
            const here = Number(attribute(heading, 'aria-level') || heading.localName.slice(1)) || 2;
            if (here > level + 1) report('heading', heading, `is of level ${here} after one of level ${level}`);
            level = here;
        }
        const references = ['labelledby', 'describedby', 'controls', 'owns', 'activedescendant', 'details', 'flowto',
            'errormessage'].map(name => 'aria-' + name);
        for (const name of references.concat('for')) {
            for (const element of all(name === 'for' ? 'label[for]' : `[${name}]`)) {
                const missing = referred(element, name).filter(id => !document.getElementById(id));
                if (missing.length) report('reference', element, `has ${name} to what is not there: ${missing}`);
            }
        }
    };

    // What a role needs: the parts it stands in, and what must be said of it.
    const plain = ['alert', 'alertdialog', 'application', 'article', 'banner', 'blockquote', 'button', 'caption', 'code',
        'complementary', 'contentinfo', 'definition', 'dialog', 'document', 'emphasis', 'feed', 'figure', 'form', 'generic', 'grid',
        'group', 'img', 'insertion', 'deletion', 'link', 'list', 'listbox', 'log', 'main', 'mark', 'marquee', 'math', 'menu', 'menubar',
        'navigation', 'none', 'note', 'paragraph', 'presentation', 'progressbar', 'radiogroup', 'region', 'search', 'searchbox',
        'separator', 'spinbutton', 'status', 'strong', 'table', 'tablist', 'tabpanel', 'term', 'textbox', 'time', 'timer', 'toolbar',
        'tooltip', 'tree', 'treegrid'];
    const menus = ['menu', 'menubar'], rows = ['row'], tables = ['table', 'grid', 'treegrid', 'rowgroup'];
    const roles = new Map(plain.map(role => [role, {}]));
    for (const [role, within, says] of [
        ['option', ['listbox'], ['aria-selected']], ['tab', ['tablist'], ['aria-selected']], ['listitem', ['list'], []],
        ['menuitem', menus, []], ['menuitemcheckbox', menus, ['aria-checked']], ['menuitemradio', menus, ['aria-checked']],
        ['treeitem', ['tree'], []], ['row', tables, []], ['rowgroup', tables.slice(0, 3), []],
        ['cell', rows, []], ['gridcell', rows, []], ['columnheader', rows, []], ['rowheader', rows, []],
        ['checkbox', null, ['aria-checked']], ['radio', null, ['aria-checked']], ['switch', null, ['aria-checked']],
        ['combobox', null, ['aria-expanded', 'aria-controls']], ['heading', null, ['aria-level']],
        ['slider', null, ['aria-valuenow']], ['scrollbar', null, ['aria-valuenow']], ['meter', null, ['aria-valuenow']],
    ]) roles.set(role, { within, says });
    const native = { ul: 'list', ol: 'list', menu: 'list', table: 'table', tr: 'row', thead: 'rowgroup', tbody: 'rowgroup',
        tfoot: 'rowgroup', select: 'listbox' };
    const checkRoles = () => {
        // What only groups or is nothing to a screen reader is looked through.
        const around = element => {
            for (let at = element.parentElement; at; at = at.parentElement) {
                const role = attribute(at, 'role') || native[at.localName];
                if (role && !['group', 'none', 'presentation', 'generic'].includes(role)) return role;
            }
            return 'nothing';
        };
        for (const element of all('[role]')) {
            if (!shown(element) || silent(element)) continue;
            const role = attribute(element, 'role');
            const needs = roles.get(role);
            if (!needs) { report('role', element, `plays a part that there is not: ${role}`); continue; }
            if (needs.within && !needs.within.includes(around(element))) {
                report('role', element, `is ${role} within ${around(element)} instead of ${needs.within.join(' or ')}`);
            }
            // Where the element itself says it, the attribute would say it twice.
            const own = element.matches('h1, h2, h3, h4, h5, h6, input[type=checkbox], input[type=radio], input[type=range]');
            for (const name of own ? [] : needs.says ?? []) {
                if (!element.hasAttribute(name)) report('role', element, `is ${role} without ${name}`);
            }
        }
    };

    // Colours are [red, green, blue, alpha] from 0 to 1, multiplied by their alpha.
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const colours = new Map();
    const colour = text => {
        if (!colours.has(text)) {
            const plain = text.match(/^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/);
            let [r, g, b, a] = plain ? [plain[1], plain[2], plain[3], plain[4] ?? 1].map(Number) : [];
            if (!plain) {
                canvas.clearRect(0, 0, 1, 1);
                canvas.fillStyle = text;
                canvas.fillRect(0, 0, 1, 1);
                [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
                a /= 255;
            }
            colours.set(text, [r / 255 * a, g / 255 * a, b / 255 * a, a]);
        }
        return colours.get(text);
    };
    const over = (top, under) => top.map((part, i) => part + under[i] * (1 - top[3]));
    const faded = (paint, opacity) => paint.map(part => part * opacity);
    const light = paint => {
        const [r, g, b] = paint.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => {
        const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
    };
    const hex = paint => '#' + paint.slice(0, 3).map(part => Math.round(part * 255).toString(16).padStart(2, '0')).join('');
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const scheme = getComputedStyle(document.documentElement).colorScheme.split(' ');
    const paper = scheme.includes('dark') && (dark || !scheme.includes('light')) ? colour('rgb(18, 18, 18)') : [1, 1, 1, 1];

    // What text and ground come to on the screen, from the inside out; nothing where a picture or an effect is in between.
    const coat = style => {
        const effect = style.mixBlendMode !== 'normal' || style.filter !== 'none';
        const picture = style.backgroundImage !== 'none' || style.backgroundClip === 'text';
        return { effect, picture, behind: colour(style.backgroundColor), opacity: Number(style.opacity) };
    };
    const coats = new Map();
    const painted = (element, ink, pseudo) => {
        let text = colour(ink), ground = [0, 0, 0, 0];
        const lay = ({ effect, picture, behind, opacity }) => {
            if (effect || (picture && ground[3] < 0.999)) return false;
            text = faded(over(text, behind), opacity);
            ground = faded(over(ground, behind), opacity);
            return true;
        };
        if (pseudo && !lay(coat(pseudo))) return null;
        for (let at = element; at; at = at.parentElement) {
            if (!coats.has(at)) coats.set(at, coat(getComputedStyle(at)));
            if (!lay(coats.get(at))) return null;
        }
        return [over(text, paper), over(ground, paper)];
    };
    // Letters in a drawing that stand on a shape are not judged: what is behind them is not known from the tree.
    const shapes = new Map();
    const onShape = element => {
        const drawing = element.ownerSVGElement;
        if (!shapes.has(drawing)) {
            const filled = all('rect, circle, ellipse, path, polygon', drawing).filter(shape => getComputedStyle(shape).fill !== 'none');
            shapes.set(drawing, filled.map(shape => shape.getBoundingClientRect()));
        }
        const box = element.getBoundingClientRect();
        const x = box.x + box.width / 2, y = box.y + box.height / 2;
        return shapes.get(drawing).some(shape => shape.left <= x && x <= shape.right && shape.top <= y && y <= shape.bottom);
    };
    const judge = (element, ink, style, pseudo) => {
        const pair = painted(element, ink, pseudo && style);
        if (!pair) return;
        const size = parseFloat(style.fontSize);
        const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
        const contrast = ratio(...pair);
        if (contrast >= least) return;
        const part = pseudo ? `has ${pseudo} that ` : '';
        report('contrast', element, `${part}is ${hex(pair[0])} on ${hex(pair[1])}: ${contrast.toFixed(2)} instead of ${least}`);
    };
    const legible = element => shown(element) && !tiny(element) && !element.closest(':disabled, [aria-disabled=true]');
    const checkContrast = () => {
        const walk = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
        const seen = new Set();
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            const element = node.parentElement;
            if (!element || seen.has(element) || !node.data.trim() || element.matches('textarea, option, title, desc')) continue;
            seen.add(element);
            if (!legible(element)) continue;
            const style = getComputedStyle(element);
            if (!(element instanceof SVGElement)) judge(element, style.webkitTextFillColor, style);
            else if (element.ownerSVGElement && style.fill.match(/^(rgb|color|ok|lab|lch)/) && !onShape(element)) judge(element, style.fill, style);
        }
        for (const field of all('input, textarea, select')) {
            if (!legible(field) || field.matches('[type=checkbox], [type=radio], [type=range], [type=color]')) continue;
            const style = getComputedStyle(field);
            const empty = field.value === '' && attribute(field, 'placeholder');
            if (empty) judge(field, getComputedStyle(field, '::placeholder').color, style);
            else if (field.value) judge(field, style.color, style);
        }
    };

    // Words that the stylesheet adds, such as numbers of lines; mere signs are decoration.
    const checkAdded = () => {
        for (const element of all('body *')) {
            for (const pseudo of ['::before', '::after']) {
                const style = getComputedStyle(element, pseudo);
                if (!/counter|".*[\p{L}\p{N}].*"/u.test(style.content) || style.visibility !== 'visible') continue;
                if (style.display !== 'none' && legible(element)) judge(element, style.webkitTextFillColor, style, pseudo);
            }
        }
    };

    const checkWidth = () => {
        const width = document.documentElement.clientWidth;
        const reach = document.scrollingElement.scrollWidth;
        if (reach <= width) return;
        const wide = new Set(all('body *').filter(element => {
            const box = element.getBoundingClientRect();
            if (box.width === 0 || box.right + scrollX <= width + 0.5) return false;
            for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
                if (getComputedStyle(at).overflowX !== 'visible') return false;
            }
            return true;
        }));
        const inner = [...wide].filter(element => ![...element.children].some(child => wide.has(child)));
        for (const element of inner.length ? inner.slice(0, 20) : [document.documentElement]) {
            const right = Math.round(element.getBoundingClientRect().right + scrollX);
            report('overflow', element, `reaches to ${Math.max(right, reach)} px where the window has ${width}`);
        }
    };

    checkStructure();
    checkNames();
    checkRoles();
    checkContrast();
    checkAdded();
    checkWidth();
    return [...found.values()];
})()
