//! What a file states that the product has nothing for.

use std::ops::Range;

use crate::mistakes::Collector;
use crate::raw;
use product::Product;

pub(super) fn check(file: &raw::Experiment, product: &Product, mistakes: &mut Collector<'_>) {
    let mut refuse = |at: Range<usize>, what: &str| {
        mistakes.add(at, format!("{what}: {} has nothing of the kind", product.title), "remove it");
    };
    let of_target = file.target.as_ref().and_then(|target| target.consistency.as_ref());
    let of_each = file.configuration.iter().filter_map(|c| c.consistency.as_ref());
    for consistency in of_target.into_iter().chain(of_each).filter(|_| !product.has_consistency) {
        refuse(consistency.span(), "consistency");
    }
    for configuration in &file.configuration {
        if let Some(backlog) = configuration.backlog.as_ref().filter(|_| product.backlog.is_none()) {
            refuse(backlog.span(), &format!("backlog of {}", configuration.name));
        }
        let settings = configuration.settings.iter();
        let sections = settings.flat_map(|settings| settings.sections.keys().map(move |name| (settings, name)));
        for (settings, section) in sections.filter(|(_, section)| product.section(section).is_none()) {
            refuse(settings.span(), &format!("settings.{section} of {}", configuration.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PRODUCTS;

    #[test]
    fn what_a_product_lacks_is_refused_at_its_place() {
        let text = "name = \"x\"\ntarget = { consistency = \"one\" }\ndataset = { records = 1 }\nload = {}\n\
                    [[configuration]]\nname = \"a\"\ninstance = \"i\"\ndata_volume = \"local\"\n\
                    settings = { jvm = [\"-Xint\"] }\nbacklog = { overwrites = 1.0, sstables = 2 }\n";
        let file = toml::from_str::<raw::Experiment>(text).expect("an experiment");
        let found = |product: &Product| {
            let mut mistakes = Collector::new("x.toml", text);
            check(&file, product, &mut mistakes);
            mistakes.finish(Some(())).map_err(|mistakes| mistakes.to_string())
        };
        assert_eq!(found(PRODUCTS[0]), Ok(()));
        let plain = Product { title: "A cache", has_consistency: false, backlog: None, sections: &[], ..*PRODUCTS[0] };
        assert_eq!(
            found(&plain).expect_err("three mistakes").lines().collect::<Vec<_>>(),
            [
                "x.toml:2:26: consistency: A cache has nothing of the kind (remove it)",
                "x.toml:9:12: settings.jvm of a: A cache has nothing of the kind (remove it)",
                "x.toml:10:11: backlog of a: A cache has nothing of the kind (remove it)",
            ]
        );
    }
}
